/// The raised cosine, from 0 at 0 to 1 at 1: (1 − cos πx) / 2 = sin²(πx / 2).
enum RaisedCosine {
    /// sin(πx / 2) for x in 0 ... 1, to 6·10⁻⁸: the Taylor series of the sine up to its eleventh power.
    @_noLocks @inline(__always)
    static func quarterSine(_ x: Float) -> Float {
        let z = x * x
        let high: Float = 0.079_692_626 + z * (-0.004_681_754_1 + z * (0.000_160_441_18 + z * -3.598_843e-6))
        return x * (1.570_796_3 + z * (-0.645_964_1 + z * high))
    }

    /// The raised cosine at x in 0 ... 1.
    @_noLocks @inline(__always)
    static func rise(_ x: Float) -> Float {
        let sine = quarterSine(x)
        return sine * sine
    }

    /// The slope of `rise` at x in 0 ... 1: (π / 2) sin πx.
    @_noLocks @inline(__always)
    static func slope(_ x: Float) -> Float {
        Float.pi * quarterSine(x) * quarterSine(1 - x)
    }
}

/// A value that moves smoothly to its target: a raised cosine from rest, and taken up with its slope when it is
/// sent elsewhere on the way.
///
/// From rest at a to b the value at x in 0 ... 1 is b + (a − b)(1 − rise x). A ramp that is sent elsewhere while
/// it moves with slope m starts from where it stands and adds m·x(1 − x)², the cubic Hermite basis that has slope
/// 1 at 0 and neither value nor slope at 1, so that value and slope have no step. Values depend on the frame
/// alone, never on how frames are divided into blocks.
public struct Ramp: BitwiseCopyable, Sendable {
    var start: Float
    var slope: Float
    /// Where the value ends.
    public private(set) var target: Float
    var position: Int32
    var length: Int32
    var step: Float

    /// A value at rest.
    @_noLocks public init(_ value: Float) {
        start = value
        slope = 0
        target = value
        position = 0
        length = 0
        step = 0
    }

    /// Whether the value has not arrived yet.
    public var isMoving: Bool { @_noLocks get { position < length } }

    /// Whether the value is at rest at `value`.
    @_noLocks func rests(at value: Float) -> Bool {
        !isMoving && target == value
    }

    /// Whether all values to come are those of `other`.
    @_noLocks func isSame(as other: Ramp) -> Bool {
        if !isMoving && !other.isMoving { return target == other.target }
        return start == other.start && slope == other.slope && target == other.target
            && position == other.position && length == other.length
    }

    /// The value `offset` frames from here.
    @_noLocks @inline(__always)
    func value(at offset: Int) -> Float {
        let frame = position &+ Int32(truncatingIfNeeded: offset)
        if frame >= length { return target }
        let x = Float(frame) * step
        let back = 1 - x
        return target + (start - target) * (1 - RaisedCosine.rise(x)) + slope * (x * back * back)
    }

    /// Lets `frames` pass.
    @_noLocks mutating func advance(_ frames: Int) {
        if position < length {
            position = Int32(truncatingIfNeeded: min(Int(position) &+ frames, Int(length)))
        }
    }

    /// Sends the value to `newTarget`, where it arrives after `frames`.
    @_noLocks mutating func move(to newTarget: Float, over frames: Int) {
        if frames <= 0 { return jump(to: newTarget) }
        if !isMoving && target == newTarget { return }
        let from = value(at: 0)
        var slopePerFrame: Float = 0
        if isMoving {
            let x = Float(position) * step
            let back = 1 - x
            let perLength = (target - start) * RaisedCosine.slope(x) + slope * back * (1 - 3 * x)
            slopePerFrame = perLength * step
        }
        start = from
        target = newTarget
        position = 0
        length = Int32(truncatingIfNeeded: frames)
        step = 1 / Float(frames)
        slope = slopePerFrame * Float(frames)
    }

    /// Sends the value to 0, where it arrives within `frames`. One that is on its way there and arrives no later goes
    /// on as it is: sent there again, with its slope, it would swing below 0.
    @_noLocks mutating func shut(within frames: Int) {
        if isMoving && target == 0 && Int(length &- position) <= frames { return }
        move(to: 0, over: frames)
    }

    /// Goes on to its target, in the frames that are left of a move, from `value` and with this slope.
    @_noLocks mutating func goOn(from value: Float, slopePerFrame: Float) {
        guard isMoving else { return }
        start = value
        length = length &- position
        position = 0
        step = 1 / Float(length)
        slope = slopePerFrame * Float(length)
    }

    /// Puts the value at `newTarget` at once.
    @_noLocks mutating func jump(to newTarget: Float) {
        self = Ramp(newTarget)
    }

    /// Writes the next `count` values to `values`.
    @_noLocks func write(to values: UnsafeMutablePointer<Float>, count: Int) {
        if isMoving {
            for i in 0..<count { unsafe values[i] = value(at: i) }
        } else {
            for i in 0..<count { unsafe values[i] = target }
        }
    }
}
