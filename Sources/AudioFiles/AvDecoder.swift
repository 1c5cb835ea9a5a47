import CAvformat

/// One decoder of libavcodec, from its start. Nothing else decodes with that library.
///
/// Packets carry their number as their time, so that what comes out tells where it belongs.
@safe final class AvDecoder {
    /// What asking for frames brought.
    enum Step {
        /// Frames are in `frame`.
        case frames
        /// It wants another packet.
        case hungry
        /// All that went in is out.
        case end
        case failed(String)
    }

    private var context: UnsafeMutablePointer<AVCodecContext>?
    private var frame: UnsafeMutablePointer<AVFrame>?

    /// Sets up the decoder of a stream of the file at `path`.
    init(_ parameters: UnsafePointer<AVCodecParameters>, path: String) throws(AudioFileError) {
        let id = unsafe parameters.pointee.codec_id
        guard let codec = unsafe avcodec_find_decoder(id), unsafe codec.pointee.type == AVMEDIA_TYPE_AUDIO
        else {
            let name = unsafe String(cString: avcodec_get_name(id))
            throw .cannotRead(path: path, reason: "this system has no decoder for \(name)")
        }
        unsafe frame = av_frame_alloc()
        unsafe context = avcodec_alloc_context3(codec)
        guard let context = unsafe context, unsafe frame != nil else {
            throw .cannotRead(path: path, reason: "out of memory")
        }
        var code = unsafe avcodec_parameters_to_context(context, parameters)
        if code >= 0 {
            unsafe context.pointee.thread_count = 1
            unsafe context.pointee.pkt_timebase = AVRational(num: 1, den: 1_000_000)
            unsafe context.pointee.request_sample_fmt = AV_SAMPLE_FMT_FLT
            // What is padding is decided by AvTrim, for all codecs alike.
            unsafe context.pointee.flags2 |= AV_CODEC_FLAG2_SKIP_MANUAL
            unsafe context.pointee.max_samples = 1 << 24
            code = unsafe avcodec_open2(context, codec, nil)
        }
        guard code >= 0 else { throw .cannotRead(path: path, reason: AvLibrary.reason(code)) }
    }

    deinit {
        unsafe av_frame_free(&frame)
        unsafe avcodec_free_context(&context)
    }

    /// Takes the packet numbered `number`; nil says that there are no more. Returns why it does not decode, or nil.
    func send(_ packet: AvPacket?, number: Int) -> String? {
        let code: Int32
        if let packet {
            code = unsafe packet.with { packet in
                unsafe packet.pointee.pts = Int64(number)
                unsafe packet.pointee.dts = Int64(number)
                return unsafe avcodec_send_packet(context, packet)
            }
        } else {
            code = unsafe avcodec_send_packet(context, nil)
        }
        return code >= 0 || code == backline_av_end() ? nil : AvLibrary.reason(code)
    }

    /// Brings out the next frames, if there are any yet.
    func receive() -> Step {
        let code = unsafe avcodec_receive_frame(context, frame)
        if code >= 0 { return .frames }
        if code == backline_av_again() { return .hungry }
        return code == backline_av_end() ? .end : .failed(AvLibrary.reason(code))
    }

    /// How many frames came out.
    var frameCount: Int { unsafe Int(frame!.pointee.nb_samples) }
    /// Their rate in Hz.
    var sampleRate: Int { unsafe Int(frame!.pointee.sample_rate) }
    /// Samples in one of them.
    var channelCount: Int { unsafe Int(backline_av_frame_channels(frame!)) }
    /// Frames to leave out before the sound, by the container's word or the codec's nature.
    var padding: Int64 { unsafe Int64(backline_av_decoder_skip(frame!)) }
    /// The number of the packet whose first frames these are; nil for what follows of the same packet.
    var packetNumber: Int? {
        let time = unsafe frame!.pointee.pts
        return time == backline_av_no_time() ? nil : Int(time)
    }

    /// The frames that came out, interleaved, into `samples`; returns how many samples were not finite.
    func takeFrames(into samples: inout [Float]) -> Int {
        let count = frameCount * channelCount
        if samples.count < count { samples = .init(repeating: 0, count: count) }
        return unsafe samples.withUnsafeMutableBufferPointer { buffer in
            guard let out = buffer.baseAddress else { return 0 }
            return unsafe interleave(frame!, into: out)
        }
    }
}
