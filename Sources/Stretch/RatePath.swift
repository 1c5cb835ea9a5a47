/// Which place of a source every output frame has, while the rate moves at stated frames.
///
/// All of it is integer arithmetic, so that a place depends on nothing but the changes: not on blocks, and not on who
/// asks. Everything that is to stay together follows one path, or paths with the same changes.
public struct RatePath: Hashable, Sendable {
    /// From a frame on: at one rate, or towards the next one by the same step a frame.
    private struct Segment: Hashable, Sendable {
        var frame: Int64
        var position: SourcePosition
        /// Source frames to the output frame before this one, times 2⁶⁴.
        var increment: Int128
        /// What that grows by, a frame.
        var step: Int128
        /// The rate that holds, or that is being gone to.
        var rate: Double

        func position(of frame: Int64) -> SourcePosition {
            let n = Int128(frame - self.frame)
            return SourcePosition(bits: position.bits + n * increment + step * (n * (n + 1) / 2))
        }

        /// Source frames from `frame - 1` to `frame`, times 2⁶⁴.
        func increment(before frame: Int64) -> Int128 { increment + step * Int128(frame - self.frame) }
    }

    /// In order, never empty, a steady one last.
    private var segments: [Segment]

    /// Frames in which a rate goes to its next value, at least: 5 ms at 48 kHz.
    public static let rampFrames: Int64 = 256

    /// A path on which output frame `frame` lies at `position`. Rates of a path lie in ``RateRange/rates``.
    public init(rate: Double, frame: Int64 = 0, position: SourcePosition = SourcePosition(frame: 0)) {
        segments = [
            Segment(
                frame: frame, position: position, increment: SourcePosition.increment(rate), step: 0,
                rate: rate)
        ]
    }

    /// The rate that holds once all changes have come.
    public var rate: Double { segments[segments.count - 1].rate }

    /// Whether nothing changes at `frame` or before it that this path still knows of.
    public func isSteady(at frame: Int64) -> Bool { segment(of: frame).step == 0 }

    /// Where an output frame lies.
    public func position(of frame: Int64) -> SourcePosition { segment(of: frame).position(of: frame) }

    /// Source frames from an output frame to the next.
    public func rate(of frame: Int64) -> Double {
        let segment = segment(of: frame)
        return segment.step == 0 ? segment.rate : Double(segment.increment(before: frame + 1)) * 0x1p-64
    }

    /// Source frames to an output frame, on average over `count` frames from `frame` on, as far as is settled by what has
    /// begun at `frame`: a change that comes later counts for nothing, whether it is known already or not.
    func rate(from frame: Int64, over count: Int64) -> Double {
        let segment = segment(of: frame)
        guard segment.step != 0 else { return segment.rate }
        let increment = segment.increment(before: frame)
        let goal = SourcePosition.increment(segment.rate)
        let n = min(Int128(count), (goal - increment) / segment.step)
        let moved = n * increment + segment.step * (n * (n + 1) / 2) + (Int128(count) - n) * goal
        return Double(moved) * 0x1p-64 / Double(count)
    }

    /// Goes to `rate` from output frame `frame` on, linearly and over `ramp` frames, from where the rate stands then.
    /// Changes for later frames are forgotten.
    public mutating func move(to rate: Double, at frame: Int64, over ramp: Int64 = Self.rampFrames) {
        let frame = max(frame, segments[0].frame)
        let last = segment(of: frame)
        let position = last.position(of: frame)
        let increment = last.increment(before: frame)
        let goal = SourcePosition.increment(rate)
        segments.removeAll { $0.frame >= frame }
        if ramp <= 0 || goal == increment {
            segments.append(
                Segment(frame: frame, position: position, increment: goal, step: 0, rate: rate))
            return
        }
        let moving = Segment(
            frame: frame, position: position, increment: increment,
            step: (goal - increment) / Int128(ramp), rate: rate)
        segments.append(moving)
        segments.append(
            Segment(
                frame: frame + ramp, position: moving.position(of: frame + ramp), increment: goal, step: 0,
                rate: rate))
    }

    /// Forgets what matters for frames before `frame` only.
    public mutating func forget(before frame: Int64) {
        let first = segments.lastIndex { $0.frame <= frame } ?? 0
        segments.removeFirst(first)
    }

    /// The output frame that a source's place comes out at, rounded half to even; for a source's length, the frame
    /// after its last.
    public func frame(of place: Int64) -> Int64 {
        let position = SourcePosition(frame: place)
        let index = segments.lastIndex { $0.position <= position } ?? 0
        let segment = segments[index]
        if segment.step != 0 { return crossing(position, in: segment, before: segments[index + 1].frame) }
        // On the line from frame 0 on it is the quotient, without the rounding of a sum.
        if segment.position == SourcePosition(outputFrame: segment.frame, rate: segment.rate) {
            return RateRange.outputFrames(of: place, rate: segment.rate)
        }
        let frames = RateRange.rounded((Double(place) - segment.position.frames) / segment.rate)
        return index + 1 < segments.count
            ? min(segment.frame + frames, segments[index + 1].frame) : segment.frame + frames
    }

    /// The first frame at or behind a place, in a segment whose rate moves.
    private func crossing(_ position: SourcePosition, in segment: Segment, before end: Int64) -> Int64 {
        var (low, high) = (segment.frame, end)
        while low < high {
            let middle = low + (high - low) / 2
            if segment.position(of: middle) < position { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private func segment(of frame: Int64) -> Segment {
        segments.last { $0.frame <= frame } ?? segments[0]
    }
}
