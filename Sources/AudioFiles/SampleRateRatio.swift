/// Two sample rates, and the frames after which their grids meet again: 147 and 160 for 44.1 and 48 kHz.
struct SampleRateRatio: Equatable, Sendable {
    /// Rates in Hz that a file or a session may have.
    static let allowedRates = 1_000...768_000

    /// Hz.
    let fileRate: Int
    /// Hz.
    let sessionRate: Int
    /// Frames of the file in one period of the two grids; at most one second of them.
    let filePeriod: Int
    /// Frames of the session in one period of the two grids.
    let sessionPeriod: Int

    /// Periods on one side of a place that the resampler must have heard to get the place right.
    ///
    /// Half the length of libsoxr's impulse response at its very high quality is at most 240 frames of the lower
    /// rate down to −140 dB (measured at twelve pairs of rates, docs/decisions.md). It must be told the silence before a
    /// file, too: it would cut off what its first stage rings before the first frame, at −50 dB.
    var marginPeriods: Int {
        let frames = 384
        let period = min(filePeriod, sessionPeriod)
        return (frames + period - 1) / period
    }

    init(fileRate: Int, sessionRate: Int) throws(AudioFileError) {
        guard Self.allowedRates.contains(fileRate), Self.allowedRates.contains(sessionRate) else {
            throw .cannotConvert(from: fileRate, to: sessionRate, reason: "rates go from 1 kHz to 768 kHz")
        }
        let divisor = Self.greatestCommonDivisor(fileRate, sessionRate)
        self.fileRate = fileRate
        self.sessionRate = sessionRate
        filePeriod = fileRate / divisor
        sessionPeriod = sessionRate / divisor
    }

    /// The length in session frames of `fileFrames`, rounded half to even.
    func sessionFrames(_ fileFrames: Int64) -> Int64 {
        let (quotient, remainder) = (Int128(fileFrames) * Int128(sessionPeriod))
            .quotientAndRemainder(dividingBy: Int128(filePeriod))
        let twice = 2 * remainder
        let roundsUp = twice > filePeriod || (twice == filePeriod && quotient % 2 == 1)
        return Int64(quotient + (roundsUp ? 1 : 0))
    }

    private static func greatestCommonDivisor(_ a: Int, _ b: Int) -> Int {
        b == 0 ? a : greatestCommonDivisor(b, a % b)
    }
}
