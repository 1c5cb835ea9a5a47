/// **Streaming:** converts a stream of frames from one sample rate to another.
///
/// Linear in phase and without delay: frame k of the input sounds at k times the ratio of the rates. What comes out
/// does not depend on how the input is divided. Equal rates pass through untouched.
@safe public final class RateConverter {
    /// Takes `count` frames, valid during the call.
    public typealias Deliver = (_ frames: UnsafePointer<Float>, _ count: Int) throws(AudioFileError) -> Void

    private let rates: SampleRateRatio
    private let channelCount: Int
    private let resampler: Soxr?
    private var output: [Float]
    private var taken: Int64 = 0
    // Below 0 while what comes out is the silence before the first frame.
    private var made: Int64 = 0

    private static let outputFrames = 4_096

    /// Converts frames of `channelCount` samples from `from` Hz to `to` Hz, both 1 to 768 kHz.
    public init(from: Int, to: Int, channelCount: Int) throws(AudioFileError) {
        rates = try SampleRateRatio(fileRate: from, sessionRate: to)
        self.channelCount = channelCount
        resampler = from == to ? nil : try Soxr(rates, channelCount: channelCount)
        output = .init(repeating: 0, count: from == to ? 0 : Self.outputFrames * channelCount)
        guard from != to else { return }
        made = -Int64(rates.marginPeriods * rates.sessionPeriod)
        try unsafe feedSilence { _, _ in }
    }

    /// Takes `count` interleaved frames and delivers those that they complete, in pieces.
    public func push(
        _ frames: UnsafePointer<Float>, count: Int, deliver: Deliver
    ) throws(AudioFileError) {
        taken += Int64(count)
        guard resampler != nil else { return try unsafe deliver(frames, count) }
        try unsafe feed(frames, count: count, deliver)
    }

    /// Delivers what is left, so that the whole is the input's length times the ratio, rounded half to even.
    public func finish(deliver: Deliver) throws(AudioFileError) {
        guard resampler != nil else { return }
        try unsafe feedSilence(deliver)
        while try unsafe convert(nil, count: 0, deliver).made > 0 {}
    }

    /// Feeds what lies before the first frame and after the last.
    private func feedSilence(_ deliver: Deliver) throws(AudioFileError) {
        let count = rates.marginPeriods * rates.filePeriod
        let silence = [Float](repeating: 0, count: count * channelCount)
        try unsafe silence.withUnsafeBufferPointer { buffer throws(AudioFileError) in
            try unsafe feed(buffer.baseAddress!, count: count, deliver)
        }
    }

    private func feed(
        _ frames: UnsafePointer<Float>, count: Int, _ deliver: Deliver
    ) throws(AudioFileError) {
        var rest = unsafe frames
        var left = count
        while left > 0 {
            let step = try unsafe convert(rest, count: left, deliver)
            unsafe rest += step.taken * channelCount
            left -= step.taken
        }
    }

    private func convert(
        _ input: UnsafePointer<Float>?, count: Int, _ deliver: Deliver
    ) throws(AudioFileError) -> (taken: Int, made: Int) {
        let step = try unsafe output.withUnsafeMutableBufferPointer { buffer throws(AudioFileError) in
            try unsafe resampler!.process(
                input, count: count, into: buffer.baseAddress!, capacity: Self.outputFrames)
        }
        try unsafe deliverOutput(step.made, deliver)
        return step
    }

    private func deliverOutput(_ count: Int, _ deliver: Deliver) throws(AudioFileError) {
        let skipped = min(count, Int(max(0, -made)))
        made += Int64(skipped)
        let n = Int(min(Int64(count - skipped), rates.sessionFrames(taken) - made))
        guard n > 0 else { return }
        made += Int64(n)
        try unsafe output.withUnsafeBufferPointer { buffer throws(AudioFileError) in
            try unsafe deliver(buffer.baseAddress! + skipped * channelCount, n)
        }
    }
}
