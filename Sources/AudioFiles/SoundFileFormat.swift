/// A kind of file that Backline writes.
public enum SoundFileFormat: String, CaseIterable, Sendable {
    /// RIFF WAVE; a file that grows beyond 4 GiB becomes RF64.
    case wav
    /// WAVE with 64-bit sizes (EBU Tech 3306).
    case rf64
    /// Sony Wave64.
    case w64
    /// Apple AIFF, up to 4 GiB.
    case aiff
    /// Apple Core Audio Format.
    case caf
    /// FLAC, up to 8 channels.
    case flac
    /// Ogg Vorbis.
    case ogg
    /// Ogg Opus, at 8, 12, 16, 24 or 48 kHz.
    case opus
    /// MPEG-1 or 2 layer III, up to 2 channels.
    case mp3

    /// The format that the ending of a file's name stands for; nil where it stands for none.
    public init?(extensionOf path: String) {
        let name = path.split(separator: "/").last ?? ""
        guard let dot = name.lastIndex(of: ".") else { return nil }
        switch name[name.index(after: dot)...].lowercased() {
        case "aif": self = .aiff
        case "oga": self = .ogg
        case let ending: self.init(rawValue: ending)
        }
    }

    /// Whether the encoding is lossy and has no sample format to choose.
    public var isLossy: Bool { [.ogg, .opus, .mp3].contains(self) }

    /// Throws where the format cannot hold such frames.
    func check(
        path: String, samples: SampleFormat?, channelCount: Int, sampleRate: Int
    ) throws(AudioFileError) {
        func refuse(_ reason: String, _ mend: String) -> AudioFileError {
            .unsupported(path: path, reason: reason, mend: mend)
        }
        if isLossy, samples != nil {
            throw refuse("\(rawValue) files have no sample format", "leave --bits out")
        }
        if self == .flac, samples == .float32 {
            throw refuse("FLAC has no floating-point samples", "use --bits 24, or --format wav")
        }
        let mostChannels = [.flac: 8, .mp3: 2][self] ?? 64
        guard 1...mostChannels ~= channelCount else {
            throw refuse(
                "\(rawValue) holds 1 to \(mostChannels) channels, not \(channelCount)", "use --format wav")
        }
        let rates: [Int]? =
            switch self {
            case .opus: [8_000, 12_000, 16_000, 24_000, 48_000]
            case .mp3: [8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000]
            default: nil
            }
        guard rates?.contains(sampleRate) ?? SampleRateRatio.allowedRates.contains(sampleRate) else {
            throw refuse("\(rawValue) has no sample rate of \(sampleRate) Hz", "use --rate 48000")
        }
    }
}

/// How a sample lies in a file.
public enum SampleFormat: String, CaseIterable, Sendable {
    /// 16-bit integers, with dither.
    case int16 = "16"
    /// 24-bit integers.
    case int24 = "24"
    /// 32-bit floating point.
    case float32 = "32f"

    /// Bytes of a sample.
    var byteCount: Int {
        switch self {
        case .int16: 2
        case .int24: 3
        case .float32: 4
        }
    }
}
