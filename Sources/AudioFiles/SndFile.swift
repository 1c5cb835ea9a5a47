import CSndfile
import Glibc

/// One file, open in libsndfile. Nothing else calls the library.
@safe struct SndFile: ~Copyable {
    let path: String
    private let info: SF_INFO
    private let handle: OpaquePointer

    /// Opens a regular file for reading. Its format is told from its contents, not from its name.
    init(reading path: String) throws(AudioFileError) {
        // Without O_NONBLOCK a pipe would wait for a writer, for ever.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .cannotRead(path: path, reason: systemReason(errno)) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw .cannotRead(path: path, reason: "it is not a regular file")
        }
        var info = SF_INFO()
        let opened = unsafe sf_open_fd(descriptor, Int32(SFM_READ), &info, Int32(SF_TRUE))
        guard let opened = unsafe opened else {
            throw unsafe .cannotRead(path: path, reason: Self.reason(nil) ?? "unknown format")
        }
        self.path = path
        self.info = info
        unsafe handle = opened
    }

    deinit { unsafe sf_close(handle) }

    var channelCount: Int { Int(info.channels) }
    var sampleRate: Int { Int(info.samplerate) }

    /// What went wrong in the last call; nil if nothing did.
    var error: String? { unsafe Self.reason(handle) }

    /// The one place that turns the library's error into words.
    private static func reason(_ handle: OpaquePointer?) -> String? {
        guard unsafe sf_error(handle) != 0 else { return nil }
        var text = unsafe String(cString: sf_strerror(handle))
        while let last = text.last, last == "." || last.isWhitespace { text.removeLast() }
        return text
    }
}

// MARK: Reading

extension SndFile {
    /// Longer is no music: such a count is a damaged header's, or the library's word for "unknown".
    private static let longestFrameCount: Int64 = 1 << 40

    private var container: Int32 { info.format & Int32(SF_FORMAT_TYPEMASK) }
    private var encoding: Int32 { info.format & Int32(SF_FORMAT_SUBMASK) }

    /// How the samples lie in the file, where that is worth knowing: converting them here is faster than having the
    /// library do it (Benchmarks in docs/decisions.md).
    var packing: PackedSamples? {
        let plain = [
            SF_FORMAT_WAV, SF_FORMAT_WAVEX, SF_FORMAT_RF64, SF_FORMAT_W64, SF_FORMAT_CAF, SF_FORMAT_AIFF,
        ]
        guard plain.contains(Int(container)) else { return nil }
        guard unsafe sf_command(handle, Int32(SFC_RAW_DATA_NEEDS_ENDSWAP), nil, 0) == SF_FALSE else {
            return nil
        }
        return switch Int(encoding) {
        case SF_FORMAT_PCM_16: .int16
        case SF_FORMAT_PCM_24: .int24
        default: nil
        }
    }

    /// Whether decoding may bring NaN or infinite samples.
    var mayHoldNonFinite: Bool { encoding > SF_FORMAT_PCM_U8 }

    /// How many frames there are, and the library's place after finding out.
    ///
    /// Most files state their length. Where one states none, or an absurd one, it is decoded once. MPEG without an
    /// Info header has a length that libsndfile guesses from the bit rate, and a guess is made exact; but where
    /// more than two MPEG frames are missing the file has been cut off, and is to be treated as such.
    func measure() -> (frameCount: Int64, place: Int64) {
        guard 1...Self.longestFrameCount ~= info.frames else {
            let decoded = decodeToEnd()
            return (decoded, decoded)
        }
        guard container == SF_FORMAT_MPEG else { return (info.frames, 0) }
        if seek(to: info.frames - 1), decodeToEnd() == 1 { return (info.frames, info.frames) }
        guard seek(to: 0) else { return (info.frames, -1) }
        let decoded = decodeToEnd()
        return (info.frames - decoded <= 2 * 1_152 ? decoded : info.frames, decoded)
    }

    /// Decodes all that is left and returns how many frames that was.
    private func decodeToEnd() -> Int64 {
        let count = 1_024
        var scratch = [Float](repeating: 0, count: count * channelCount)
        var total: Int64 = 0
        while true {
            let n = unsafe scratch.withUnsafeMutableBufferPointer {
                unsafe read($0.baseAddress!, count: count)
            }
            total += Int64(n)
            if n == 0 { return total }
        }
    }

    /// Decodes `count` frames at the library's place; fewer at the end or at an error, of which nothing is kept.
    func read(_ buffer: UnsafeMutablePointer<Float>, count: Int) -> Int {
        let n = unsafe Int(sf_readf_float(handle, buffer, sf_count_t(count)))
        return unsafe sf_error(handle) == 0 ? n : 0
    }

    /// Reads `count` frames as they lie in the file; fewer at its end.
    func readPacked(_ bytes: UnsafeMutableRawPointer, as packing: PackedSamples, count: Int) -> Int {
        let frameBytes = channelCount * packing.byteCount
        return unsafe Int(sf_read_raw(handle, bytes, sf_count_t(count * frameBytes))) / frameBytes
    }

    /// Frames to decode and throw away between a seek and the first frame that is wanted.
    ///
    /// libsndfile 1.2.0 lands beside the place in the last page of an Ogg Vorbis file, and an Opus decoder needs
    /// time to forget; a second is more than a page holds. Measured: docs/decisions.md, "Seeking in coded files".
    var preRollFrames: Int64 { isOgg ? Int64(sampleRate) : 0 }

    /// Goes to `frame`; false where the codec or the file does not allow it.
    func seek(to frame: Int64) -> Bool {
        // libsndfile 1.2.0 lands beside the place on some ways forward through Ogg Vorbis, but not from the start.
        if isOgg, unsafe sf_seek(handle, 0, SEEK_SET) != 0 { return false }
        return unsafe sf_seek(handle, frame, SEEK_SET) == frame
    }

    private var isOgg: Bool { container == SF_FORMAT_OGG }
}

/// The system's words for `code`.
func systemReason(_ code: Int32) -> String { unsafe String(cString: strerror(code)) }
