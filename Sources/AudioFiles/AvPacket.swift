import CAvformat

/// A packet of a stream, as a container gave it.
@safe final class AvPacket {
    private var pointer: UnsafeMutablePointer<AVPacket>?

    /// A packet without contents; nil where memory is out.
    init?() {
        unsafe pointer = av_packet_alloc()
        if unsafe pointer == nil { return nil }
    }

    deinit { unsafe av_packet_free(&pointer) }

    /// Runs `body` with the library's packet.
    func with<Result>(_ body: (UnsafeMutablePointer<AVPacket>) -> Result) -> Result {
        unsafe body(pointer!)
    }

    /// What it is known again by.
    var mark: PacketIndex.Mark {
        unsafe with { packet in
            // Sound is not reordered: the time to decode it is its place in the stream, the other may be anything.
            let hasTime = unsafe packet.pointee.dts != backline_av_no_time()
            return unsafe PacketIndex.Mark(
                time: hasTime ? packet.pointee.dts : packet.pointee.pts, place: packet.pointee.pos,
                size: packet.pointee.size)
        }
    }

    /// Its length in units of the stream's clock; 0 where that is not known.
    var duration: Int64 { unsafe with { unsafe $0.pointee.duration } }

    /// Whether the file ended before the packet did.
    var isCutOff: Bool { unsafe with { unsafe $0.pointee.flags & AV_PKT_FLAG_CORRUPT != 0 } }

    /// Frames of padding at its end, as its container says.
    var paddingBehind: Int64 { unsafe with { unsafe Int64(backline_av_padding_behind($0)) } }
}
