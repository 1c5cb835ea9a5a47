/// A rate that moves at stated output frames: which place of the source every output frame has.
///
/// All of it is integer arithmetic, one step a frame, so that neither the place nor the rate depends on how the frames
/// are divided into blocks.
struct RateMotion {
    /// Frames in which a rate goes to its next value: 5 ms at 48 kHz.
    static let rampFrames: Int64 = 256

    /// The next output frame.
    private(set) var frame: Int64 = 0
    /// Where it lies.
    private(set) var position: SourcePosition
    /// Source frames from it to the one after, times 2⁶⁴.
    private(set) var increment: Int128
    /// The rate that holds, or that is being gone to.
    private(set) var rate: Double

    /// The rate of the next frame.
    private(set) var currentRate: Double

    private let frameCount: Int64
    // Where the rate came to stand still, and where the source ends if it stays so.
    private var anchorFrame: Int64 = 0
    private var anchor: SourcePosition
    private var steadyEnd: Int64 = 0

    private var step: Int128 = 0
    private var stepsLeft: Int64 = 0
    private var pending: [Change] = []

    private struct Change {
        var frame: Int64
        var rate: Double
    }

    /// The motion through a source of `frameCount` frames, from its frame 0 on.
    init(rate: Double, frameCount: Int64) {
        self.frameCount = frameCount
        position = SourcePosition(frame: 0)
        anchor = position
        increment = SourcePosition.increment(rate)
        self.rate = rate
        currentRate = rate
        setAnchor()
    }

    /// Whether the rate of the next frame is one to be gone on with.
    var isSteady: Bool { stepsLeft == 0 }

    /// Goes to `rate` from output frame `at` on, or from the next one where that is past.
    mutating func change(to rate: Double, at: Int64) {
        let at = max(at, frame)
        pending.removeAll { $0.frame >= at }
        pending.append(Change(frame: at, rate: rate))
    }

    /// Goes to a place at once and stays at the rate that was gone to last.
    mutating func seek(frame: Int64, position: SourcePosition) {
        if let last = pending.last { rate = last.rate }
        pending = []
        increment = SourcePosition.increment(rate)
        stepsLeft = 0
        self.frame = frame
        self.position = position
        setAnchor()
    }

    private mutating func setAnchor() {
        (anchorFrame, anchor, currentRate) = (frame, position, rate)
        steadyEnd = endFrame
    }

    /// Begins what is due at the next frame. To be called before its place and rate are used.
    mutating func begin() {
        while let next = pending.first, next.frame <= frame {
            pending.removeFirst()
            rate = next.rate
            stepsLeft = Self.rampFrames
            step = (SourcePosition.increment(rate) - increment) / Int128(Self.rampFrames)
        }
        guard stepsLeft > 0 else { return }
        stepsLeft -= 1
        increment = stepsLeft == 0 ? SourcePosition.increment(rate) : increment + step
        currentRate = Double(increment) * 0x1p-64
        if stepsLeft == 0 { setAnchor() }
    }

    /// Goes on to the next frame.
    mutating func advance() {
        position.bits += increment
        frame += 1
    }

    /// Whether the source is over at the next frame.
    ///
    /// While the rate moves, it is over where the place is; else at the length, rounded half to even, of what was left
    /// when the rate came to stand still.
    var isOver: Bool { isSteady ? frame >= steadyEnd : position >= SourcePosition(frame: frameCount) }

    /// The output frame at which the source ends if the rate that is gone to now stays.
    var endFrame: Int64 {
        // On the line from frame 0 on the length is the quotient, without the rounding of a sum.
        if anchor == SourcePosition(outputFrame: anchorFrame, rate: rate) {
            return RateRange.outputFrames(of: frameCount, rate: rate)
        }
        let (from, place) = isSteady ? (anchorFrame, anchor) : (frame, position)
        return from + max(0, RateRange.rounded((Double(frameCount) - place.frames) / rate))
    }
}
