import CSoxr

/// One running resampler of libsoxr, at its very high quality. Nothing else calls the library.
///
/// It is linear in phase and makes up for its own delay: the first frame out lies at the time of the first frame
/// in. What it makes does not depend on how the input is divided.
@safe struct Soxr: ~Copyable {
    private let handle: soxr_t
    private let rates: SampleRateRatio

    init(_ rates: SampleRateRatio, channelCount: Int) throws(AudioFileError) {
        // The precise clock matters for ratios that libsoxr takes for irrational, such as 44,101 to 48,000.
        var quality = unsafe soxr_quality_spec(UInt(SOXR_VHQ), UInt(SOXR_HI_PREC_CLOCK))
        var reason: soxr_error_t?
        let created = unsafe soxr_create(
            Double(rates.fileRate), Double(rates.sessionRate), UInt32(channelCount), &reason, nil, &quality,
            nil)
        guard let created = unsafe created else {
            throw unsafe Self.failure(reason, rates)
        }
        unsafe handle = created
        self.rates = rates
    }

    deinit { unsafe soxr_delete(handle) }

    /// Forgets the signal so far.
    func restart() throws(AudioFileError) {
        try unsafe check(soxr_clear(handle))
    }

    /// Takes up to `count` frames and makes up to `capacity`; a nil `input` says that the signal has ended and
    /// brings out what is still inside.
    func process(
        _ input: UnsafePointer<Float>?, count: Int, into output: UnsafeMutablePointer<Float>, capacity: Int
    ) throws(AudioFileError) -> (taken: Int, made: Int) {
        var taken = 0
        var made = 0
        try unsafe check(soxr_process(handle, input, count, &taken, output, capacity, &made))
        return (taken, made)
    }

    private func check(_ error: soxr_error_t?) throws(AudioFileError) {
        if unsafe error != nil { throw unsafe Self.failure(error, rates) }
    }

    private static func failure(_ error: soxr_error_t?, _ rates: SampleRateRatio) -> AudioFileError {
        .cannotConvert(
            from: rates.fileRate, to: rates.sessionRate,
            reason: unsafe error.map { unsafe String(cString: $0) } ?? "unknown reason")
    }
}
