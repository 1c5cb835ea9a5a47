import CAvformat

/// What a file says of the padding in one of its streams, and of its length.
struct AvPadding {
    let evidence: AvTrim.Evidence

    private let path: String
    /// Frames that the stream should decode to, as its header says, padding included; nil where it says nothing.
    private let stated: Int64?
    private let flaw: String?

    init(_ container: AvContainer, _ stream: AvStream, _ scan: AvScan) {
        path = container.path
        flaw = scan.flaw
        var evidence = AvTrim.Evidence(decoded: scan.index.frameCount, sampleRate: scan.sampleRate)
        // Of AAC in MP4 edits and iTunSMPB tell; libav makes of other things a delay that is none.
        evidence.before = container.isMP4 && stream.codec == AV_CODEC_ID_AAC ? 0 : scan.padding
        evidence.after = scan.paddingBehind
        // Ogg's pages count frames; some codecs fill their last packet all the same.
        if container.shortName == "ogg", stream.timeBase.num == 1, Int(stream.timeBase.den) == scan.sampleRate
        {
            evidence.counted = stream.duration
        }
        evidence.gapless = container.tags["itunsmpb"] ?? stream.tags["itunsmpb"]
        if container.isMP4, let header = Mp4Header(path: path) {
            evidence.track = header.tracks.first { $0.id == stream.id }
            // Edits of a header that fragments follow have no end.
            evidence.headerTimescale = header.isFragmented ? 0 : header.timescale
            if header.isFragmented { evidence.track?.duration = 0 }
        }
        self.evidence = evidence
        stated = Self.statedFrames(container, stream, scan)
    }

    /// The length in the header, where a file that was cut off would show by it.
    private static func statedFrames(_ container: AvContainer, _ stream: AvStream, _ scan: AvScan) -> Int64? {
        let rate = Double(scan.sampleRate)
        // A clock of milliseconds, and the padding at both ends, leave this much open.
        let slack = Int64(rate / 4)
        let isExact = container.isMP4 || ["wv", "tta", "ape", "tak"].contains(container.shortName)
        if isExact, let duration = stream.duration {
            let seconds = Double(duration) * Double(stream.timeBase.num) / Double(stream.timeBase.den)
            return Int64((seconds * rate).rounded())
        }
        let isTold = ["matroska,webm", "asf"].contains(container.shortName)
        guard isTold, container.streams.count == 1, !container.hasOtherStreams else { return nil }
        return container.statedSeconds.map { Int64($0 * rate) - slack }
    }

    /// What is wrong with a stream that ends before its header says so, or at what does not decode.
    func truncation(_ trim: AvTrim) -> AudioFileError? {
        let missing = (stated ?? 0) - evidence.decoded
        guard missing > 0 else {
            return flaw.map { .breaksOff(path: path, frame: trim.length, reason: $0) }
        }
        let seconds = (Double(missing) * 10 / Double(evidence.sampleRate)).rounded(.up) / 10
        return .breaksOff(
            path: path, frame: trim.length,
            reason: "the file ends there, \(seconds) s before its header says so")
    }
}
