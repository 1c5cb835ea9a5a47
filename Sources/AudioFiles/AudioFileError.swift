import EngineHost

/// What goes wrong with sound files. A description is one line for a person: what failed, on which file, why,
/// and what mends it.
public enum AudioFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is no such file, or it may not be read.
    case cannotOpen(path: String, reason: String)
    /// The file is no sound file, or is damaged where it cannot be told what it holds.
    case cannotRead(path: String, reason: String)
    /// The file is none of those that can be read.
    case unknownFormat(path: String)
    /// The file has no audio stream of that number, counted from 0.
    case noStream(path: String, stream: Int, streamCount: Int)
    /// The file has more channels than a source may have.
    case tooManyChannels(path: String, channelCount: Int)
    /// Decoding ended at a frame of the file that lies before its stated length.
    case breaksOff(path: String, frame: Int64, reason: String)
    /// The file to be written is there already, and writing over it was not asked for.
    case exists(path: String)
    /// The file cannot be created or cannot take its final name.
    case cannotCreate(path: String, reason: String)
    /// Frames could not be written; nothing is left of the file.
    case cannotWrite(path: String, reason: String)
    /// The format cannot hold what was asked for; `mend` says what would work.
    case unsupported(path: String, reason: String, mend: String)
    /// No resampler could be made for these rates, in Hz.
    case cannotConvert(from: Int, to: Int, reason: String)

    /// What mends a file that is none.
    private static let readable =
        "name a WAV, AIFF, CAF, FLAC, Ogg, Opus, MP3, M4A, MP4, WMA, APE, WavPack or Matroska file"

    /// One line for a person.
    public var description: String {
        switch self {
        case .cannotOpen(let path, let reason):
            "cannot read \(path): \(reason); check its name, and that you may read it"
        case .cannotRead(let path, let reason):
            "cannot read \(path): \(reason); \(Self.readable)"
        case .unknownFormat(let path):
            "cannot read \(path): its format is not known; \(Self.readable)"
        case .noStream(let path, let stream, let streamCount):
            "cannot read stream \(stream) of \(path): "
                + (streamCount == 0
                    ? "it has no audio stream; name a file with sound"
                    : "it has \(streamCount), counted from 0; name one up to \(streamCount - 1)")
        case .tooManyChannels(let path, let channelCount):
            "cannot read \(path): it has \(channelCount) channels, and 64 are the most; split it into several files"
        case .breaksOff(let path, let frame, let reason):
            "cannot read \(path) beyond its frame \(frame): \(reason); replace the file by a whole copy"
        case .exists(let path):
            "cannot write \(path): it exists already; give another name, or --force to replace it"
        case .cannotCreate(let path, let reason):
            "cannot create \(path): \(reason); choose a folder that can be written"
        case .cannotWrite(let path, let reason):
            "cannot write \(path): \(reason); nothing was kept, make room or choose another place"
        case .unsupported(let path, let reason, let mend):
            "cannot write \(path): \(reason); \(mend)"
        case .cannotConvert(let from, let to, let reason):
            "cannot convert \(from) Hz to \(to) Hz: \(reason); choose another sample rate"
        }
    }

    /// The same, as a source reports it.
    public var sourceFailure: SourceFailure { SourceFailure(description) }
}
