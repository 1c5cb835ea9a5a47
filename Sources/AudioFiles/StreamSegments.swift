import CAvformat

/// Where decoding a stream may begin, and how long before a place.
struct StreamSegments {
    /// Packets that a decoder hears before a segment at most.
    private(set) var preRollPackets = 0
    /// Frames that are rather decoded than jumped over.
    let farthestAhead: Int64

    private let starts: [Int64]
    private let index: PacketIndex
    /// The first packet of each segment; nil where every packet stands by itself.
    private var heads: [Int]?

    /// Codecs each of whose packets decodes by itself, bit by bit.
    private static let independent = [
        AV_CODEC_ID_ALAC, AV_CODEC_ID_WAVPACK, AV_CODEC_ID_APE, AV_CODEC_ID_TTA, AV_CODEC_ID_TAK,
        AV_CODEC_ID_FLAC,
    ]

    /// The segments of a stream that was looked through.
    init(_ codec: AVCodecID, _ scan: AvScan) {
        index = scan.index
        starts = index.starts
        let rate = Int64(scan.sampleRate)
        guard !Self.independent.contains(codec), !Self.isPlain(codec) else {
            farthestAhead = rate / 4
            return
        }
        farthestAhead = .max
        let preRoll = Self.preRollFrames(codec, rate, framesPerPacket: starts.count > 1 ? starts[1] : 0)
        let length = max(4 * rate, 8 * preRoll)
        var heads = [0]
        for number in index.marks.indices where starts[number] - starts[heads[heads.count - 1]] >= length {
            heads.append(number)
        }
        self.heads = heads
        preRollPackets = heads.map { $0 - packet(before: $0, frames: preRoll) }.max() ?? 0
        self.preRoll = preRoll
    }

    private var preRoll: Int64 = 0

    /// The segment that holds frame `place`, and the packet that its decoder begins with.
    func entry(for place: Int64) -> (segment: Range<Int64>, packet: Int) {
        let holding = index.packet(holding: place)
        guard let heads else { return (starts[holding]..<Int64.max, holding) }
        let number = (heads.firstIndex { $0 > holding } ?? heads.count) - 1
        let head = heads[number]
        let end = number + 1 < heads.count ? starts[heads[number + 1]] : Int64.max
        return (starts[head]..<end, packet(before: head, frames: preRoll))
    }

    /// The last packet that begins `frames` before the packet `head`.
    private func packet(before head: Int, frames: Int64) -> Int {
        frames == 0 || head == 0 ? head : index.packet(holding: max(0, starts[head] - frames))
    }

    private static func isPlain(_ codec: AVCodecID) -> Bool {
        av_get_exact_bits_per_sample(codec) > 0
    }

    /// How long a decoder must hear before it gives the bits of one that heard all.
    ///
    /// AAC overlaps two packets, and AC-3 likewise. The bandwidth extension of HE-AAC, the bit reservoirs of MP3 and
    /// WMA, and the predictors of Opus reach further back; a second is more than any of them needs.
    private static func preRollFrames(_ codec: AVCodecID, _ rate: Int64, framesPerPacket: Int64) -> Int64 {
        switch codec {
        case AV_CODEC_ID_AAC where framesPerPacket == 1_024: 4 * 1_024
        case AV_CODEC_ID_AC3, AV_CODEC_ID_EAC3: 4 * 1_536
        default: rate
        }
    }
}
