import CAvformat

/// What is decided once for libav as a whole.
enum AvLibrary {
    /// Containers that may be opened. None of them names other files for the library to open, as playlists do.
    private static let containers = [
        "mov", "matroska", "webm", "asf", "ape", "wv", "tta", "tak", "mpc", "mpc8", "aac", "loas", "mp3",
        "ac3",
        "eac3", "dts", "dtshd", "truehd", "mlp", "amr", "amrnb", "amrwb", "flac", "ogg", "wav", "w64", "aiff",
        "caf", "au", "voc", "avi", "flv", "mpegts", "mpeg", "mpegvideo", "rm", "nut", "oma", "qcp", "xwma",
        "shn", "gsm",
        "dsf", "iff", "mxf",
    ].joined(separator: ",")

    /// The decoders that may run: those of sound, so that no picture is ever decoded.
    private static let decoders: String = {
        var names: [String] = []
        var place: UnsafeMutableRawPointer?
        while let codec = unsafe av_codec_iterate(&place) {
            guard unsafe av_codec_is_decoder(codec) != 0, unsafe codec.pointee.type == AVMEDIA_TYPE_AUDIO
            else {
                continue
            }
            unsafe names.append(String(cString: codec.pointee.name))
        }
        return names.joined(separator: ",")
    }()

    /// The library writes nothing to the terminal, and allocates no more at once than an honest file makes it.
    private static let isSetUp: Bool = {
        av_log_set_level(AV_LOG_QUIET)
        av_max_alloc(256 << 20)
        return true
    }()

    /// What a container is opened with: the lists above, local files only, and edit lists left to us (AvTrim).
    static func options() -> [String: String] {
        precondition(isSetUp)
        return [
            "format_whitelist": containers, "codec_whitelist": decoders, "protocol_whitelist": "file",
            "ignore_editlist": "1", "advanced_editlist": "0",
        ]
    }

    /// The one place that turns the library's error into words.
    static func reason(_ code: Int32) -> String {
        var bytes = [CChar](repeating: 0, count: 256)
        guard unsafe av_strerror(code, &bytes, bytes.count) == 0 else { return "error \(code)" }
        let text = bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return String(decoding: text, as: UTF8.self)
    }
}

/// Ends what libav does on one file when it takes too long.
final class AvWatch {
    private var deadline = ContinuousClock.now
    private var limit = Duration.zero

    /// From now on so much time is given.
    func allow(_ time: Duration) {
        limit = time
        deadline = .now + time
    }

    /// Goes on with the time that another has left.
    func takeOver(_ other: AvWatch) { (deadline, limit) = (other.deadline, other.limit) }

    /// Whether the time is over.
    var isOver: Bool { ContinuousClock.now > deadline }

    /// What to say then.
    var reason: String { "reading took longer than \(limit.components.seconds) s" }
}
