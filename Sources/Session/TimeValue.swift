/// A time as a session writes it.
public enum TimeValue: Sendable, Equatable {
    /// Seconds, 0 or more.
    case seconds(Double)

    /// Frames at the session's sample rate, 0 or more.
    case frames(Int64)

    /// No time at all; where nothing else is said, a clip starts here.
    public static let zero = TimeValue.seconds(0)

    /// The time in frames at `sampleRate`, which is the session's; seconds are rounded half to even.
    ///
    /// What no frame number can hold ends at the largest or the smallest, and what is not a number is 0.
    public func frames(at sampleRate: Int) -> Int64 {
        switch self {
        case .frames(let count):
            return count
        case .seconds(let seconds):
            let count = (seconds * Double(sampleRate)).rounded(.toNearestOrEven)
            return Int64(exactly: count) ?? (count > 0 ? .max : count < 0 ? .min : 0)
        }
    }
}
