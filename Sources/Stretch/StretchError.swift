/// What a stretcher or a varispeed cannot be asked for. A description is one line for a person.
public enum StretchError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A rate outside ``RateRange/rates``, or no number.
    case rate(Double)
    /// A pitch outside ``RateRange/semitones``, or no number.
    case semitones(Double)
    /// A sample rate outside ``RateRange/sampleRates``.
    case sampleRate(Int)
    /// A new pitch for a ``Stretcher`` that was made for a fixed one.
    case fixedPitch
    /// The library is older than the engine asked for: it has no R3.
    case engineMissing

    /// One line for a person.
    public var description: String {
        switch self {
        case .rate(let rate):
            "cannot play at rate \(rate): rates go from 0.25 to 4; choose one between them"
        case .semitones(let semitones):
            "cannot shift by \(semitones) semitones: shifts go from -24 to 24; choose one between them"
        case .sampleRate(let rate):
            "cannot stretch at \(rate) Hz: Rubber Band takes 8000 to 192000 Hz; choose another sample rate"
        case .fixedPitch:
            "cannot move the pitch: this stretcher was made for a fixed one; make one with movesPitch"
        case .engineMissing:
            "cannot use the fine engine: this librubberband has no R3; install version 3 or later"
        }
    }
}

/// What may be asked for.
public enum RateRange {
    /// Source frames to an output frame. Twice as wide as a track's own rate, since the session's multiplies it.
    public static let rates = 0.25...4.0
    /// Pitch shifts, in semitones.
    public static let semitones = -24.0...24.0
    /// Hz, as Rubber Band's header asks for.
    public static let sampleRates = 8_000...192_000

    static func check(rate: Double) throws(StretchError) {
        guard rates.contains(rate) else { throw .rate(rate) }
    }

    static func check(semitones: Double) throws(StretchError) {
        guard Self.semitones.contains(semitones) else { throw .semitones(semitones) }
    }

    /// The length in output frames of `frames` source frames at a constant rate, rounded half to even.
    ///
    /// It is the division of two `Double`s that is rounded, so that 3 frames at rate 1.2 are 2.5 frames, although 1.2
    /// has no exact binary form.
    public static func outputFrames(of frames: Int64, rate: Double) -> Int64 {
        rounded(Double(frames) / rate)
    }

    static func rounded(_ frames: Double) -> Int64 {
        // 2^62 stands for ever: adding to it overflows nothing.
        frames < 0x1p62 ? Int64(frames.rounded(.toNearestOrEven)) : 1 << 62
    }
}
