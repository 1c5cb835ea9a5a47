import CStretchKernels

/// **Streaming:** a source at another speed, its pitch with it, as a tape machine does: one thread at a time.
///
/// Every output frame has its own place in the source, known exactly, and is made from the source's frames around it
/// by a windowed sinc (``SincKernel``). So output frame 0 lies on source frame 0, there is no delay to make up for, and
/// a frame's bits depend on its place and rate only: not on blocks, nor on where playing began. Above rate 1 the cutoff
/// comes down by the rate. Before its first frame and after its last a source is silent.
///
/// At rate 1 the low-pass is still there (it ends at 0.89 of half the sample rate): leave the varispeed out there.
@safe public final class Varispeed {
    /// Samples in a frame.
    public let channelCount: Int

    private let window: SourceWindow
    private let weights: UnsafeMutablePointer<Float>
    private var path: RatePath
    private let source: any StretchSource
    private var rows: KernelRows

    /// The source frames that are made ready at a time are those of so many output frames.
    private static let stride = 64

    /// A varispeed that begins at the source's frame 0. A rate is source frames to an output frame, 0.25 to 4.
    public convenience init(_ source: any StretchSource, rate: Double) throws(StretchError) {
        try RateRange.check(rate: rate)
        self.init(source, path: RatePath(rate: rate))
    }

    /// A varispeed whose output frames lie where `path` says, from output frame 0 on.
    public init(_ source: any StretchSource, path: RatePath) {
        channelCount = source.channelCount
        let reach = SincKernel.reach(rate: RateRange.rates.upperBound)
        let span = 2 * reach + Self.stride * Int(RateRange.rates.upperBound)
        window = SourceWindow(source, span: span + 16)
        unsafe weights = .allocate(capacity: KernelRows.width(reach: reach) + 8)
        self.source = source
        self.path = path
        rows = KernelRows(rate: path.rate)
    }

    deinit { unsafe weights.deallocate() }

    /// The next output frame.
    public private(set) var outputFrame: Int64 = 0

    /// Where the next output frame lies in the source.
    public var position: SourcePosition { path.position(of: outputFrame) }

    /// The rate of the next output frame.
    public var rateNow: Double { path.rate(of: outputFrame) }

    /// The output frame after the last one: the source's length over the rate, rounded half to even; where rates have
    /// changed, what is left at the last.
    public var endFrame: Int64 { path.frame(of: source.frameCount) }

    /// Goes to `rate` from output frame `at` on, within `ramp` frames; from the next frame on where that is past.
    /// Changes for later frames are forgotten.
    public func change(rate: Double, at: Int64, over ramp: Int64 = RatePath.rampFrames) throws(StretchError) {
        try RateRange.check(rate: rate)
        path.forget(before: outputFrame)
        path.move(to: rate, at: max(at, outputFrame), over: ramp)
    }

    /// Goes to a place at once, at the rate that was asked for last: output frame `outputFrame` is what comes next, and
    /// lies at `position`. What comes has the bits that playing through would have given, if the rate has been constant.
    public func seek(outputFrame: Int64, position: SourcePosition) {
        self.outputFrame = outputFrame
        path = RatePath(rate: path.rate, frame: outputFrame, position: position)
        window.empty()
    }

    /// Leaves out what comes before output frame `outputFrame`.
    public func skip(to outputFrame: Int64) {
        self.outputFrame = max(self.outputFrame, outputFrame)
    }

    /// Makes the next up to `count` frames, interleaved; fewer only at the end. `positions`, if there is one, takes the
    /// place of each.
    ///
    /// Throws what the source throws. What came before that is in `output`, up to ``outputFrame``.
    public func process(
        into output: UnsafeMutablePointer<Float>, count: Int,
        positions: UnsafeMutablePointer<SourcePosition>? = nil
    ) throws -> Int {
        var made = 0
        while made < count {
            let n = try unsafe makeStride(
                output + made * channelCount, min(count - made, Self.stride),
                positions.map { unsafe $0 + made })
            if n == 0 { break }
            made += n
        }
        return made
    }

    private func makeStride(
        _ output: UnsafeMutablePointer<Float>, _ count: Int,
        _ positions: UnsafeMutablePointer<SourcePosition>?
    ) throws -> Int {
        let count = Int(min(Int64(count), max(0, endFrame - outputFrame)))
        if count == 0 { return 0 }
        // Whatever the rate will be within the stride.
        let fastest = RateRange.rates.upperBound
        let reach = Int64(SincKernel.reach(rate: fastest))
        let here = position.frame
        let last = here + Int64((Double(count) * fastest).rounded(.up))
        try window.cover(here + 1 - reach, last + reach + 8)

        for i in 0..<count {
            let position = position
            if let positions = unsafe positions { unsafe positions[i] = position }
            unsafe makeFrame(output + i * channelCount, at: position)
            outputFrame += 1
        }
        return count
    }

    private func makeFrame(_ output: UnsafeMutablePointer<Float>, at position: SourcePosition) {
        let rate = rateNow
        var reach = rows.reach
        if path.isSteady(at: outputFrame) || rate <= 1 && rows.fit(rate) {
            if !rows.fit(rate) {
                rows = KernelRows(rate: rate)
                reach = rows.reach
            }
            unsafe rows.write(fraction: position.fraction, to: weights)
        } else {
            reach = SincKernel.reach(rate: rate)
            let fraction = Double(position.fraction) * 0x1p-64
            unsafe SincKernel.write(fraction: fraction, rate: rate, reach: reach, to: weights)
            unsafe (weights + 2 * reach).update(repeating: 0, count: 8)
        }
        let first = position.frame + 1 - Int64(reach)
        let width = KernelRows.width(reach: reach)
        for channel in 0..<channelCount {
            unsafe output[channel] = stretch_sum(window.pointer(channel, at: first), weights, width)
        }
    }
}
