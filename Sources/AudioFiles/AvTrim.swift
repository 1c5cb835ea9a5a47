import CAvformat

/// Which of the frames that a stream decodes to are the sound, and which its encoder's padding.
struct AvTrim: Equatable {
    /// Frames to leave out at the beginning.
    var start: Int64 = 0
    /// Frames from there to the end.
    var length: Int64

    /// What the padding is told by.
    struct Evidence {
        /// Frames that the stream decodes to, and their rate in Hz.
        var decoded: Int64
        var sampleRate: Int
        /// The packets' and the decoder's word: frames before the sound, and behind it.
        var before: Int64 = 0
        var after: Int64 = 0
        /// Frames of sound, where the container counts them.
        var counted: Int64?
        /// The `iTunSMPB` tag that Apple's encoders write.
        var gapless: String?
        /// The track's edits, and the clock of their lengths.
        var track: Mp4Header.Track?
        var headerTimescale: Int64 = 0
    }

    init(_ evidence: Evidence) {
        length = evidence.decoded
        if let track = evidence.track, !track.edits.isEmpty {
            applyEdits(track, evidence)
        } else {
            start = evidence.before
            length = min(evidence.decoded - evidence.before - evidence.after, evidence.counted ?? .max)
            if let track = evidence.track, track.duration > 0, track.timescale > 0 {
                length = min(length, Self.rescale(track.duration, evidence.sampleRate, track.timescale))
            }
        }
        if let gapless = evidence.gapless { applyGapless(gapless, evidence) }
        start = min(max(0, start), evidence.decoded)
        length = min(max(0, length), evidence.decoded - start)
    }

    /// An MP4 track's edits: the first begins behind the encoder's delay, the last ends before its padding.
    ///
    /// Lengths of edits count in the header's clock, which is often one of milliseconds. One that agrees with the
    /// media's own length to a unit of that clock says the same less exactly.
    private mutating func applyEdits(_ track: Mp4Header.Track, _ evidence: Evidence) {
        let pieces = track.edits.filter { $0.mediaTime >= 0 }
        guard let first = pieces.first, let last = pieces.last, track.timescale > 0 else { return }
        start = Self.rescale(first.mediaTime, evidence.sampleRate, track.timescale)
        let media =
            track.duration > 0 ? Self.rescale(track.duration, evidence.sampleRate, track.timescale) : .max
        length = min(media, evidence.decoded) - start
        guard last.duration > 0, evidence.headerTimescale > 0 else { return }
        let end =
            Self.rescale(last.mediaTime, evidence.sampleRate, track.timescale)
            + Self.rescale(last.duration, evidence.sampleRate, evidence.headerTimescale)
        let unit = Int64(evidence.sampleRate) / evidence.headerTimescale + 1
        if end - start < length - unit { length = end - start }
    }

    /// ` 00000000 DELAY PADDING LENGTH …`, in hexadecimal: the length is exact, where the delay is the one found.
    private mutating func applyGapless(_ text: String, _ evidence: Evidence) {
        let words = text.split(separator: " ").map { Int64($0, radix: 16) }
        guard words.count >= 4, let delay = words[1], let exact = words[3] else { return }
        guard 0..<16_384 ~= delay, exact > 0, delay + exact <= evidence.decoded else { return }
        guard evidence.track?.edits.isEmpty ?? true || start == delay else { return }
        start = delay
        length = exact
    }

    /// `value` units of a clock in frames, rounded.
    private static func rescale(_ value: Int64, _ rate: Int, _ timescale: Int64) -> Int64 {
        let (whole, rest) = (Int128(value) * Int128(rate)).quotientAndRemainder(dividingBy: Int128(timescale))
        return Int64(clamping: whole + (2 * rest >= Int128(timescale) ? 1 : 0))
    }
}
