import CAvformat
import Glibc

/// One audio stream of a container, as its header describes it.
struct AvStream {
    /// Its number among all streams of the container.
    let index: Int32
    /// What the container calls it: an MP4 file's track id.
    let id: Int32
    let codec: AVCodecID
    /// Hz; what the decoder makes of it may differ.
    let sampleRate: Int
    /// Samples in a frame; what the decoder makes of it may differ.
    let channelCount: Int
    /// Seconds a unit of its times.
    let timeBase: AVRational
    /// Length in units of its times; nil where that is not stated, or only estimated.
    let duration: Int64?
    let tags: [String: String]

    /// The codec's name for people, such as "AAC (Advanced Audio Coding)".
    var codecName: String {
        guard let descriptor = unsafe avcodec_descriptor_get(codec) else { return "unknown" }
        return unsafe String(cString: descriptor.pointee.long_name ?? descriptor.pointee.name)
    }
}

/// One file, open in libavformat. Nothing else calls that library.
@safe final class AvContainer {
    let path: String
    /// The audio streams, in the container's order.
    private(set) var streams: [AvStream] = []
    /// Whether there are streams that are no sound and no picture of the title.
    private(set) var hasOtherStreams = false
    /// Ends what takes too long.
    let watch: AvWatch

    private var context: UnsafeMutablePointer<AVFormatContext>?
    private var file: UnsafeMutablePointer<AVIOContext>?
    private var selected: Int32 = -1

    /// Opens a local file. `probes` says whether to look into the streams for what the header does not tell.
    init(path: String, probes: Bool = true) throws(AudioFileError) {
        let options = AvLibrary.options()
        self.path = path
        unsafe context = avformat_alloc_context()
        unsafe file = nil
        watch = AvWatch()
        watch.allow(.seconds(20))
        try open(options)
        guard let context = unsafe context else { throw .cannotRead(path: path, reason: "out of memory") }
        if probes { try check(unsafe avformat_find_stream_info(context, nil)) }
        describeStreams()
    }

    deinit {
        unsafe avformat_close_input(&context)
        unsafe avio_closep(&file)
    }

    private func open(_ options: [String: String]) throws(AudioFileError) {
        guard let context = unsafe context else { throw .cannotRead(path: path, reason: "out of memory") }
        let watch = unsafe Unmanaged.passUnretained(watch).toOpaque()
        let callback = unsafe AVIOInterruptCB(
            callback: { unsafe Unmanaged<AvWatch>.fromOpaque($0!).takeUnretainedValue().isOver ? 1 : 0 },
            opaque: watch)
        unsafe context.pointee.interrupt_callback = callback
        // Whatever a file names, no other is opened for it.
        unsafe context.pointee.io_open = { _, _, _, _, _ in backline_av_exit() }
        var dictionary: OpaquePointer?
        for (key, value) in options { unsafe av_dict_set(&dictionary, key, value, 0) }
        defer { unsafe av_dict_free(&dictionary) }
        // The prefix keeps a name with a colon from naming a protocol.
        var interrupts = unsafe callback
        try check(unsafe avio_open2(&file, "file:" + path, AVIO_FLAG_READ, &interrupts, nil))
        unsafe context.pointee.pb = file
        let code = unsafe avformat_open_input(&self.context, path, nil, &dictionary)
        // What no demuxer takes, and what only one takes that is not on the list.
        if code == backline_av_invalid() || code == backline_av_refused() { throw .unknownFormat(path: path) }
        try check(code)
    }

    /// Throws what a negative code of the library says.
    func check(_ code: Int32) throws(AudioFileError) {
        guard code < 0 else { return }
        throw .cannotRead(path: path, reason: watch.isOver ? watch.reason : AvLibrary.reason(code))
    }
}

// MARK: Describing

extension AvContainer {
    /// The container's name for people, such as "QuickTime / MOV".
    var formatName: String {
        guard let format = unsafe context?.pointee.iformat else { return "unknown" }
        return unsafe String(cString: format.pointee.long_name ?? format.pointee.name)
    }

    /// Whether the file is of the MP4 family.
    var isMP4: Bool { shortName.hasPrefix("mov") }

    /// The container's short names, such as "matroska,webm".
    var shortName: String {
        guard let format = unsafe context?.pointee.iformat else { return "" }
        return unsafe String(cString: format.pointee.name)
    }

    /// The file's length in bytes.
    var byteCount: Int64 { unsafe max(0, avio_size(file)) }

    /// Length in seconds that the header states for the whole file; nil where it states none.
    var statedSeconds: Double? {
        guard let context = unsafe context, unsafe context.pointee.duration > 0,
            unsafe context.pointee.duration_estimation_method == AVFMT_DURATION_FROM_STREAM
        else { return nil }
        return unsafe Double(context.pointee.duration) / Double(AV_TIME_BASE)
    }

    /// What the container says of itself, by libav's names.
    var tags: [String: String] { unsafe Self.tags(context?.pointee.metadata) }

    /// The picture of the title, if there is one: its kind, and its length in bytes.
    var artwork: SoundArtwork? {
        for number in 0..<streamCount {
            let stream = unsafe rawStream(number)
            guard unsafe Self.isArtwork(stream) else { continue }
            let codec = unsafe avcodec_descriptor_get(stream.pointee.codecpar.pointee.codec_id)
            let type = unsafe (codec?.pointee.mime_types?.pointee).map { unsafe String(cString: $0) }
            let name = unsafe codec.map { unsafe "image/" + String(cString: $0.pointee.name) }
            return unsafe SoundArtwork(
                type: type ?? name ?? "image", byteCount: Int(stream.pointee.attached_pic.size))
        }
        return nil
    }

    /// Streams of all kinds.
    private var streamCount: UInt32 { unsafe context?.pointee.nb_streams ?? 0 }

    private func rawStream(_ number: UInt32) -> UnsafeMutablePointer<AVStream> {
        unsafe backline_av_stream(context!, number)
    }

    private static func isArtwork(_ stream: UnsafeMutablePointer<AVStream>) -> Bool {
        unsafe stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC != 0
    }

    private func describeStreams() {
        streams = []
        hasOtherStreams = false
        let isStated = unsafe context?.pointee.duration_estimation_method == AVFMT_DURATION_FROM_STREAM
        for number in 0..<streamCount {
            let stream = unsafe rawStream(number)
            let parameters = unsafe stream.pointee.codecpar!
            if unsafe parameters.pointee.codec_type == AVMEDIA_TYPE_AUDIO {
                unsafe streams.append(Self.describe(stream, parameters, isStated: isStated))
            } else if unsafe !Self.isArtwork(stream) {
                hasOtherStreams = true
            }
        }
    }

    private static func describe(
        _ stream: UnsafeMutablePointer<AVStream>, _ parameters: UnsafeMutablePointer<AVCodecParameters>,
        isStated: Bool
    ) -> AvStream {
        let duration = unsafe stream.pointee.duration
        return unsafe AvStream(
            index: stream.pointee.index, id: stream.pointee.id, codec: parameters.pointee.codec_id,
            sampleRate: Int(parameters.pointee.sample_rate),
            channelCount: Int(backline_av_stream_channels(parameters)), timeBase: stream.pointee.time_base,
            duration: isStated && duration > 0 ? duration : nil,
            tags: tags(stream.pointee.metadata))
    }

    private static func tags(_ dictionary: OpaquePointer?) -> [String: String] {
        var tags: [String: String] = [:]
        var entry: UnsafeMutablePointer<AVDictionaryEntry>?
        while let next = unsafe av_dict_get(dictionary, "", entry, AV_DICT_IGNORE_SUFFIX) {
            unsafe tags[String(cString: next.pointee.key).lowercased()] = String(cString: next.pointee.value)
            unsafe entry = next
        }
        return tags
    }
}

// MARK: Reading

extension AvContainer {
    /// What reading on brought.
    enum Step {
        case packet(AvPacket)
        case end
        case failed(String)
    }

    /// Reads only this stream from now on.
    func select(_ stream: AvStream) {
        selected = stream.index
        for number in 0..<streamCount {
            let other = unsafe rawStream(number)
            let isOther = unsafe other.pointee.index != stream.index
            unsafe other.pointee.discard = isOther ? AVDISCARD_ALL : AVDISCARD_DEFAULT
        }
    }

    /// A decoder for the selected stream, at its start.
    func makeDecoder() throws(AudioFileError) -> AvDecoder {
        guard let context = unsafe context, selected >= 0 else { throw .unknownFormat(path: path) }
        return unsafe try AvDecoder(
            backline_av_stream(context, UInt32(selected)).pointee.codecpar, path: path)
    }

    /// The next packet of the selected stream.
    func readPacket() -> Step {
        guard let packet = AvPacket() else { return .failed("out of memory") }
        while true {
            if watch.isOver { return .failed(watch.reason) }
            let (code, stream) = unsafe packet.with {
                unsafe av_packet_unref($0)
                let code = unsafe av_read_frame(context, $0)
                return unsafe (code, $0.pointee.stream_index)
            }
            if code == backline_av_end() { return .end }
            if code == backline_av_again() { continue }
            if code < 0 { return .failed(watch.isOver ? watch.reason : AvLibrary.reason(code)) }
            if stream == selected { return .packet(packet) }
        }
    }

    /// Goes to a packet at or before `time`, as far as the container can; false where it cannot.
    func seek(to time: Int64) -> Bool {
        unsafe av_seek_frame(context, selected, time, AVSEEK_FLAG_BACKWARD) >= 0
    }
}
