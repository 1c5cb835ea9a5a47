import CSndfile
import Glibc

/// One file, open in libsndfile. Nothing else calls the library.
@safe struct SndFile: ~Copyable {
    let path: String
    private let info: SF_INFO
    private let handle: OpaquePointer
    private let sink: PartialFile?

    /// Opens a regular file for reading. Its format is told from its contents, not from its name.
    init(reading path: String) throws(AudioFileError) {
        // Without O_NONBLOCK a pipe would wait for a writer, for ever.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .cannotOpen(path: path, reason: systemReason(errno)) }
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
        sink = nil
        unsafe handle = opened
    }

    /// Starts a file in `sink`, whose frames libsndfile will encode as `format` and `samples` say.
    init(
        writing sink: PartialFile, format: SoundFileFormat, samples: SampleFormat, channelCount: Int,
        sampleRate: Int
    ) throws(AudioFileError) {
        var info = SF_INFO()
        info.format = Self.code(format, samples)
        info.channels = Int32(channelCount)
        info.samplerate = Int32(sampleRate)
        guard unsafe sf_format_check(&info) != 0 else {
            throw .unsupported(
                path: sink.path, reason: "libsndfile has no such \(format) file",
                mend: "try --format wav --bits 24")
        }
        var calls = Self.calls
        let opened = unsafe sf_open_virtual(
            &calls, Int32(SFM_WRITE), &info, Unmanaged.passUnretained(sink).toOpaque())
        guard let opened = unsafe opened else {
            throw unsafe .cannotWrite(
                path: sink.path, reason: sink.failure ?? Self.reason(nil) ?? "unknown reason")
        }
        // A plain WAV file that passes 4 GiB wraps around silently; RF64 that stays below is turned into plain WAV.
        if format == .wav { unsafe sf_command(opened, Int32(SFC_RF64_AUTO_DOWNGRADE), nil, Int32(SF_TRUE)) }
        // The peak chunk holds the time of day, and the same render shall give the same bytes.
        unsafe sf_command(opened, Int32(SFC_SET_ADD_PEAK_CHUNK), nil, Int32(SF_FALSE))
        path = sink.path
        self.info = info
        self.sink = sink
        unsafe handle = opened
    }

    // Closing writes the header's sizes and what an encoder still holds; `sink` notes it if that fails.
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

    /// Whether an error may lie between good frames; other files are whole up to where they end.
    var isCoded: Bool { [SF_FORMAT_FLAC, SF_FORMAT_OGG, SF_FORMAT_MPEG].contains(Int(container)) }

    /// How the samples lie in the file, where that is worth knowing: converting them here is faster than having the
    /// library do it (docs/decisions.md, "Widening packed samples").
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

// MARK: Truncation

extension SndFile {
    /// Frames that the header of an uncompressed file promises and that are not in it.
    ///
    /// libsndfile takes what is there for the whole and only logs the difference. Coded files break off in decoding.
    var missingFrames: Int64 {
        let (isWide, overhead): (Bool, Int64)
        switch Int(container) {
        case SF_FORMAT_WAV, SF_FORMAT_WAVEX: (isWide, overhead) = (false, 0)
        case SF_FORMAT_AIFF: (isWide, overhead) = (false, 8)  // SSND holds an offset and a block size first
        case SF_FORMAT_RF64: (isWide, overhead) = (true, 0)
        case SF_FORMAT_W64: (isWide, overhead) = (true, 24)  // a chunk's size counts its own GUID and size
        default: return 0
        }
        guard let sampleBytes, let stated = statedDataBytes, stated > overhead else { return 0 }
        // Programs that write to a pipe state the largest number, or about that, for "unknown".
        let isPlaceholder =
            isWide ? stated >= 1 << 48 : 0x7FFF_0000...0x8000_FFFF ~= stated || stated >= 0xFFFF_0000
        return isPlaceholder
            ? 0 : max(0, (stated - overhead) / (sampleBytes * Int64(channelCount)) - info.frames)
    }

    private var sampleBytes: Int64? {
        switch Int(encoding) {
        case SF_FORMAT_PCM_S8, SF_FORMAT_PCM_U8: 1
        case SF_FORMAT_PCM_16: 2
        case SF_FORMAT_PCM_24: 3
        case SF_FORMAT_PCM_32, SF_FORMAT_FLOAT: 4
        case SF_FORMAT_DOUBLE: 8
        default: nil
        }
    }

    /// The size that the header gives for its sample data, as the library logs it: `data : 192000 (should be 99956)`.
    private var statedDataBytes: Int64? {
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let length = unsafe sf_command(handle, Int32(SFC_GET_LOG_INFO), &bytes, Int32(bytes.count))
        guard length > 0 else { return nil }
        for line in bytes.prefix(Int(length)).split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
            guard let colon = words.firstIndex(of: ":"), colon + 1 < words.count else { continue }
            guard ["data", "ssnd", "data size"].contains(words[..<colon].joined(separator: " ").lowercased())
            else { continue }
            if let size = Int64(words[colon + 1]) { return size }
        }
        return nil
    }

    /// What is wrong with a file that ends before its header says so; nil for a whole one.
    func truncation(frameCount: Int64) -> AudioFileError? {
        let missing = missingFrames
        guard missing > 0 else { return nil }
        let seconds = (Double(missing) * 10 / Double(max(1, sampleRate))).rounded(.up) / 10
        return .breaksOff(
            path: path, frame: frameCount,
            reason: "the file ends there, \(seconds) s before its header says so")
    }
}

// MARK: Describing

extension SndFile {
    /// The library's name of the container, such as "WAV (Microsoft)".
    var containerName: String { name(of: container) }

    /// The library's name of the encoding, such as "Signed 24 bit PCM".
    var encodingName: String { name(of: encoding) }

    private func name(of format: Int32) -> String {
        var query = unsafe SF_FORMAT_INFO(format: format, name: nil, extension: nil)
        let size = unsafe Int32(MemoryLayout<SF_FORMAT_INFO>.size)
        let isKnown = unsafe sf_command(nil, Int32(SFC_GET_FORMAT_INFO), &query, size) == 0
        let name = unsafe isKnown ? query.name.map { unsafe String(cString: $0) } : nil
        return name ?? "unknown (\(String(format, radix: 16)))"
    }

    /// Titles and the like, by the names that SoundFileInfo gives them.
    var tags: [String: String] {
        let names = [
            SF_STR_TITLE: "title", SF_STR_ARTIST: "artist", SF_STR_ALBUM: "album",
            SF_STR_TRACKNUMBER: "tracknumber",
            SF_STR_DATE: "date", SF_STR_GENRE: "genre", SF_STR_COMMENT: "comment",
            SF_STR_SOFTWARE: "software",
            SF_STR_COPYRIGHT: "copyright", SF_STR_LICENSE: "license",
        ]
        var tags: [String: String] = [:]
        for (code, name) in names {
            guard let text = unsafe sf_get_string(handle, Int32(code)) else { continue }
            unsafe tags[name] = String(cString: text)
        }
        return tags
    }
}

// MARK: Writing

extension SndFile {
    /// Encodes `count` frames of floats; false where they did not all get through.
    func write(_ frames: UnsafePointer<Float>, count: Int) -> Bool {
        unsafe sf_writef_float(handle, frames, sf_count_t(count)) == count
    }

    /// Encodes `count` frames of integers that fill 32 bits from above; false where they did not all get through.
    func write(_ frames: UnsafePointer<Int32>, count: Int) -> Bool {
        unsafe sf_writef_int(handle, frames, sf_count_t(count)) == count
    }

    private static func code(_ format: SoundFileFormat, _ samples: SampleFormat) -> Int32 {
        let encoding =
            switch samples {
            case .int16: SF_FORMAT_PCM_16
            case .int24: SF_FORMAT_PCM_24
            case .float32: SF_FORMAT_FLOAT
            }
        let code =
            switch format {
            case .wav, .rf64: SF_FORMAT_RF64 | encoding
            case .w64: SF_FORMAT_W64 | encoding
            case .aiff: SF_FORMAT_AIFF | encoding
            case .caf: SF_FORMAT_CAF | encoding
            case .flac: SF_FORMAT_FLAC | encoding
            case .ogg: SF_FORMAT_OGG | SF_FORMAT_VORBIS
            case .opus: SF_FORMAT_OGG | SF_FORMAT_OPUS
            case .mp3: SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III
            }
        return Int32(code)
    }

    /// How libsndfile reaches the sink. It would not say at closing that the disk is full; the sink does.
    private static var calls: SF_VIRTUAL_IO {
        func sink(_ context: UnsafeMutableRawPointer?) -> PartialFile {
            unsafe Unmanaged<PartialFile>.fromOpaque(context!).takeUnretainedValue()
        }
        return unsafe SF_VIRTUAL_IO(
            get_filelen: { unsafe sink($0).length },
            seek: { unsafe sink($2).seek(by: $0, from: $1) },
            read: { unsafe sf_count_t(sink($2).read(into: $0!, byteCount: Int($1))) },
            write: { unsafe sf_count_t(sink($2).write($0!, byteCount: Int($1))) },
            tell: { unsafe sink($0).seek(by: 0, from: SEEK_CUR) })
    }
}
