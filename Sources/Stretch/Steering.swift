/// Keeps a stretcher's hops on the integral of the rate.
///
/// Rubber Band rounds that integral to a frame at every change of its ratio, so that fifty changes a second add up. The
/// centre of every hop is known, in the source and in the output, and so how late it is; the ratio that is set is a
/// little off the one that is meant, against it.
struct Steering {
    private let engine: StretchEngine
    private let sampleRate: Int
    private var smoothed = 0.0

    /// Whether a stretcher that was never changed has strayed so far that it must be led.
    private(set) var isNeeded = false

    /// Frames that one may stray by itself: a third of a millisecond at 48 kHz.
    private static let tolerance = 16.0
    /// The most that a ratio is bent, so that the tempo stays what it is.
    private static let mostBend = 0.03

    init(engine: StretchEngine, sampleRate: Int) {
        self.engine = engine
        self.sampleRate = sampleRate
    }

    /// The ratio to set, output to source frames, which is the one that is meant as long as nothing has changed.
    ///
    /// - Parameters:
    ///   - ratio: the one that is meant.
    ///   - late: output frames by which the next hop's centre comes after its place on the integral.
    ///   - lead: a quarter of a window, in source frames. R2 puts the last quarter of a window, not its centre, on the
    ///     integral: that is where it finds attacks.
    mutating func ratio(_ ratio: Double, late: Double, lead: Double, pitch: Double, hasChanged: Bool)
        -> Double
    {
        let meant = engine == .fast ? lead * (ratio - 1 / pitch) : 0
        let error = late - meant
        // R2's hops follow its own errors over some tens of hops; answering each at once would feed them.
        smoothed += (error - smoothed) / (engine == .fast ? 16 : 1)
        if engine == .fine, error.magnitude > Self.tolerance { isNeeded = true }
        let steers = hasChanged || isNeeded
        let gain = (engine == .fine ? 40.0 : 10.0) / Double(sampleRate)
        let bend = steers ? max(-Self.mostBend, min(Self.mostBend, -gain * smoothed)) : 0
        return ratio * (1 + bend)
    }
}
