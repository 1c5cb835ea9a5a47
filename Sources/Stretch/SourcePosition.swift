/// A place in a source, exact to 2⁻⁶⁴ of a frame.
///
/// A fixed point, not a `Double`: positions are sums of millions of increments, and sums of these do not depend on
/// their order nor lose anything.
public struct SourcePosition: Hashable, Comparable, Sendable, BitwiseCopyable, CustomStringConvertible {
    /// The position times 2⁶⁴.
    var bits: Int128

    init(bits: Int128) {
        self.bits = bits
    }

    /// The place of a source frame.
    public init(frame: Int64) {
        bits = Int128(frame) << 64
    }

    /// Where output frame `outputFrame` lies when the source has been played at `rate` from its frame 0 on.
    public init(outputFrame: Int64, rate: Double) {
        bits = Int128(outputFrame) * Self.increment(rate)
    }

    /// The source frame at or before this place.
    public var frame: Int64 { Int64(truncatingIfNeeded: bits >> 64) }

    /// How far beyond that frame, in 2⁻⁶⁴ of a frame.
    public var fraction: UInt64 { UInt64(truncatingIfNeeded: bits) }

    /// The place in frames, as exact as a `Double` can be.
    public var frames: Double { Double(frame) + Double(fraction) * 0x1p-64 }

    /// The nearest source frame, the later one of two.
    public var rounded: Int64 { fraction >= 1 << 63 ? frame + 1 : frame }

    /// The place `frames` frames on.
    public func moved(by frames: Int64) -> SourcePosition {
        SourcePosition(bits: bits + Int128(frames) << 64)
    }

    /// How many frames one place is behind another.
    public static func - (a: Self, b: Self) -> Double { Double(a.bits - b.bits) * 0x1p-64 }

    /// The place in frames, for a person.
    public var description: String { "\(frames)" }

    /// Whether one place comes before another.
    public static func < (a: Self, b: Self) -> Bool { a.bits < b.bits }

    /// A rate times 2⁶⁴. Exact: a `Double` of at least 2⁻¹¹ has no bit below 2⁻⁶⁴.
    static func increment(_ rate: Double) -> Int128 {
        Int128(rate * 0x1p64)
    }
}
