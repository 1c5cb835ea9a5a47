/// **Streaming:** the frames of a file at another rate.
///
/// The output is cut into segments of whole periods of the two rates (160 frames against 147 for 44.1 kHz in
/// 48 kHz), and each segment is made from the file alone, by a resampler that starts anew a little before it. So a
/// frame's bits depend on its number only, a seek costs one segment, stems of different rates keep their alignment
/// to the sub-sample, and no rounding of the ratio adds up. Segments meet within the rounding of a float.
@safe final class SegmentResampler {
    /// Length at the session's rate, rounded half to even.
    let frameCount: Int64

    private let reader: any FrameReader
    private let rates: SampleRateRatio
    private let resampler: Soxr

    // A segment is made from the file's frames between `margin` before its start and `margin` after its end.
    private let segmentFileFrames: Int
    private let marginFileFrames: Int
    private let segmentFrames: Int
    private let marginFrames: Int

    private let input: UnsafeMutableBufferPointer<Float>
    private let output: UnsafeMutableBufferPointer<Float>
    private var segment: Int64?

    /// A segment has at least so many frames: longer ones make seeks dear, shorter ones make restarts dear (80 to
    /// 150 µs each, see docs/decisions.md).
    private static let leastSegmentFrames = 16_384

    init(_ reader: any FrameReader, _ rates: SampleRateRatio) throws(AudioFileError) {
        self.reader = reader
        self.rates = rates
        resampler = try Soxr(rates, channelCount: reader.channelCount)
        frameCount = rates.sessionFrames(reader.frameCount)

        let periods = (Self.leastSegmentFrames + rates.sessionPeriod - 1) / rates.sessionPeriod
        segmentFileFrames = periods * rates.filePeriod
        segmentFrames = periods * rates.sessionPeriod
        marginFileFrames = rates.marginPeriods * rates.filePeriod
        marginFrames = rates.marginPeriods * rates.sessionPeriod

        unsafe input = .allocate(capacity: (segmentFileFrames + 2 * marginFileFrames) * reader.channelCount)
        unsafe output = .allocate(capacity: (segmentFrames + 2 * marginFrames) * reader.channelCount)
    }

    deinit {
        unsafe input.deallocate()
        unsafe output.deallocate()
    }

    /// Reads up to `count` frames from `frame` on; fewer at the end of a segment, none at the end of the file or
    /// where it breaks off.
    func read(
        from frame: Int64, into buffer: UnsafeMutablePointer<Float>, count: Int
    ) throws(AudioFileError) -> Int {
        let wanted = frame / Int64(segmentFrames)
        if segment != wanted { try make(wanted) }
        let offset = Int(frame - wanted * Int64(segmentFrames))
        let available = min(frameCount, rates.sessionFrames(reader.readableFrames)) - frame
        let n = min(count, segmentFrames - offset, Int(clamping: available))
        guard n > 0 else { return 0 }
        let channelCount = reader.channelCount
        let start = unsafe output.baseAddress! + (marginFrames + offset) * channelCount
        unsafe buffer.update(from: start, count: n * channelCount)
        return n
    }

    private func make(_ wanted: Int64) throws(AudioFileError) {
        let channelCount = reader.channelCount
        let windowFrames = segmentFileFrames + 2 * marginFileFrames
        let windowStart = wanted * Int64(segmentFileFrames) - Int64(marginFileFrames)
        let base = unsafe input.baseAddress!

        // Going on, the window's last two margins are the new window's first.
        var kept = 0
        if let segment, wanted == segment + 1 {
            kept = 2 * marginFileFrames
            unsafe base.update(from: base + segmentFileFrames * channelCount, count: kept * channelCount)
        }
        segment = nil  // until the new one is whole
        try unsafe fill(
            base + kept * channelCount, from: windowStart + Int64(kept), count: windowFrames - kept)

        try resampler.restart()
        let room = segmentFrames + 2 * marginFrames
        let start = unsafe output.baseAddress!
        let made = try unsafe resampler.process(base, count: windowFrames, into: start, capacity: room).made
        _ = try unsafe resampler.process(
            nil, count: 0, into: start + made * channelCount, capacity: room - made)
        segment = wanted
    }

    /// Fills the window with `count` frames of the file, and with silence before its start and after its end.
    private func fill(_ window: UnsafeMutablePointer<Float>, from frame: Int64, count: Int)
        throws(AudioFileError)
    {
        let channelCount = reader.channelCount
        let before = min(count, Int(max(0, -frame)))
        unsafe window.update(repeating: 0, count: before * channelCount)
        let read = try unsafe reader.read(
            from: frame + Int64(before), into: window + before * channelCount, count: count - before)
        let filled = before + read
        unsafe (window + filled * channelCount).update(repeating: 0, count: (count - filled) * channelCount)
    }
}
