/// How a track's sound is made to fit a rate other than 1 or a pitch other than 0.
public enum RateMode: String, Sendable, CaseIterable {
    /// Rubber Band's R3 engine, the better and dearer one: the pitch stays where it is.
    case fine
    /// Rubber Band's R2 engine: the pitch stays where it is.
    case fast
    /// Varispeed, as a tape machine has it: the pitch follows the rate.
    case tape
}
