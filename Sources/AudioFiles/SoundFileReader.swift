/// **Streaming:** the frames of one file that libsndfile opens, at its own rate, from any place.
///
/// What it delivers depends on frame numbers only: exactly for PCM, FLAC and Vorbis, nearly for Opus and MP3
/// (docs/decisions.md, "Seeking in coded files").
@safe final class SoundFileReader: FrameReader {
    let channelCount: Int
    /// Hz.
    let sampleRate: Int
    /// The length that the file states, or that decoding it found where it states none.
    let frameCount: Int64
    /// Frames that can be read, counted from the start: `frameCount`, until the file turns out to break off.
    private(set) var readableFrames: Int64
    /// Why `readableFrames` is less than `frameCount`.
    private(set) var damage: AudioFileError?
    /// What is known from the start to be missing at the file's end; `frameCount` is what is there.
    let truncation: AudioFileError?
    /// NaN and infinite samples met so far and delivered as 0.
    private(set) var nonFiniteSampleCount = 0

    private var file: SndFile
    private var position: Int64

    // Plain samples come in pieces that the cache holds until they are converted. Coded ones come in short pieces,
    // since a damaged place spoils the whole piece it lies in.
    private let packing: PackedSamples?
    private let pieceFrames: Int

    init(path: String) throws(AudioFileError) {
        file = try SndFile(reading: path)
        guard 1...64 ~= file.channelCount else {
            throw .tooManyChannels(path: path, channelCount: file.channelCount)
        }
        channelCount = file.channelCount
        packing = file.packing
        pieceFrames = file.isCoded ? 1_024 : 16_384 / channelCount
        sampleRate = file.sampleRate
        (frameCount, position) = file.measure()
        readableFrames = frameCount
        truncation = file.truncation(frameCount: frameCount)
    }

    /// Reads up to `count` frames from `frame` on into `buffer`, interleaved; fewer only at the end, or where the
    /// file breaks off.
    func read(
        from frame: Int64, into buffer: UnsafeMutablePointer<Float>, count: Int
    ) throws(AudioFileError) -> Int {
        let wanted = Int(min(Int64(count), readableFrames - frame))
        guard wanted > 0 else { return 0 }
        if frame != position { try seek(to: frame) }
        var done = 0
        while done < wanted, position < readableFrames {
            let n = unsafe decode(into: buffer + done * channelCount, count: min(wanted - done, pieceFrames))
            done += n
        }
        return done
    }

    /// Decodes `count` frames at `position`, or fewer and notes that the file breaks off.
    private func decode(into buffer: UnsafeMutablePointer<Float>, count: Int) -> Int {
        let n: Int
        switch packing {
        case .some(let packing):
            // The packed samples go to the end of the buffer, and widen towards its start without meeting.
            let sampleCount = count * channelCount
            let packed = unsafe UnsafeMutableRawPointer(buffer) + sampleCount * (4 - packing.byteCount)
            n = unsafe file.readPacked(packed, as: packing, count: count)
            unsafe packing.widen(packed, into: buffer, count: n * channelCount)
        case .none:
            n = unsafe file.read(buffer, count: count)
            if file.mayHoldNonFinite {
                nonFiniteSampleCount += unsafe silenceNonFinite(buffer, count: n * channelCount)
            }
        }
        position += Int64(n)
        if n < count { breakOff(at: position, reason: file.error ?? "the file ends there") }
        return n
    }

    private func seek(to frame: Int64) throws(AudioFileError) {
        let start = max(0, frame - file.preRollFrames)
        if file.seek(to: start) {
            position = start
        } else {
            // Some codecs cannot seek, and a damaged file may spoil a seek: decode from the start instead.
            file = try SndFile(reading: file.path)
            position = 0
        }
        guard position < frame else { return }
        var scratch = [Float](repeating: 0, count: pieceFrames * channelCount)
        while position < min(frame, readableFrames) {
            let count = Int(min(frame - position, Int64(pieceFrames)))
            _ = unsafe scratch.withUnsafeMutableBufferPointer {
                unsafe decode(into: $0.baseAddress!, count: count)
            }
        }
    }

    private func breakOff(at frame: Int64, reason: String) {
        readableFrames = frame
        damage = .breaksOff(path: file.path, frame: frame, reason: reason)
    }
}
