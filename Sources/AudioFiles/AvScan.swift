import CAvformat

/// What looking through a stream once finds: how many frames each of its packets decodes to.
///
/// Where a container counts in frames and its codec puts as many into a packet as the container says, reading the
/// packets is enough; their first ones are decoded to see that it is so. Everything else is decoded once.
struct AvScan {
    private(set) var index = PacketIndex()
    /// Hz, of what comes out of the decoder.
    private(set) var sampleRate = 0
    /// Samples in a frame of what comes out of the decoder.
    private(set) var channelCount = 0
    /// Why there is nothing behind the last packet, where that is not the file's end.
    private(set) var flaw: String?
    /// Frames of padding before the sound, as the packets say, or as the codec has it.
    private(set) var padding: Int64 = 0
    /// Frames of padding behind the sound, as the last packet says.
    private(set) var paddingBehind: Int64 = 0

    /// Packets' lengths in units of the stream's clock.
    private var durations: [Int64] = []
    /// Frames that came out of each packet that was decoded.
    private var counts: [Int64] = []
    private var decodedFrames: Int64 = 0
    private var lastNumber = 0
    /// Whether the last packet is not whole.
    private var endsCutOff = false

    /// Packets that are decoded to find out what comes out at all.
    private static let probedPackets = 6

    /// Looks through `stream` of a container that was just opened.
    init(_ container: AvContainer, _ stream: AvStream) throws(AudioFileError) {
        if Self.mayBeCounted(stream) {
            try look(through: container, stream, decodesAll: false)
            if let stated = statedFrames(stream) {
                index.setFrames(stated)
                return
            }
            self = try AvScan(decoding: AvContainer(path: container.path), stream, container.watch)
        } else {
            self = try AvScan(decoding: container, stream, container.watch)
        }
    }

    private init(
        decoding container: AvContainer, _ stream: AvStream, _ watch: AvWatch
    ) throws(AudioFileError) {
        container.watch.takeOver(watch)
        try look(through: container, stream, decodesAll: true)
        guard decodedFrames > 0 else {
            throw .cannotRead(path: container.path, reason: flaw ?? "nothing in it decodes")
        }
        index.setFrames(counts)
    }

    /// Whether the stream's clock may count frames, and its codec says how many a packet has.
    private static func mayBeCounted(_ stream: AvStream) -> Bool {
        let steady = [
            AV_CODEC_ID_AAC, AV_CODEC_ID_ALAC, AV_CODEC_ID_WAVPACK, AV_CODEC_ID_APE, AV_CODEC_ID_TTA,
            AV_CODEC_ID_FLAC, AV_CODEC_ID_OPUS, AV_CODEC_ID_AC3,
        ]
        let units = Int64(stream.timeBase.den)
        guard steady.contains(stream.codec), stream.timeBase.num == 1, stream.sampleRate > 0 else {
            return false
        }
        return units % Int64(stream.sampleRate) == 0 || Int64(stream.sampleRate) % units == 0
    }

    /// What the container says of each packet in frames; nil where it leaves gaps, or is found to be wrong.
    private func statedFrames(_ stream: AvStream) -> [Int64]? {
        guard decodedFrames > 0, index.count > 0 else { return nil }
        let units = Int64(stream.timeBase.den)
        var frames: [Int64] = []
        frames.reserveCapacity(index.count)
        for (number, stated) in durations.enumerated() {
            var duration = stated
            if number + 1 < index.count {
                let gap = index.marks[number + 1].time.subtractingReportingOverflow(index.marks[number].time)
                if duration == 0 { duration = gap.partialValue }
                guard !gap.overflow, gap.partialValue == duration else { return nil }
            }
            let (product, overflows) = duration.multipliedReportingOverflow(by: Int64(sampleRate))
            guard duration > 0, !overflows, product % units == 0 else { return nil }
            frames.append(product / units)
        }
        // A packet may decode to nothing, as a first one that only says who encoded; it is silence then. The last one
        // may hold padding that the container leaves out.
        for (number, count) in counts.prefix(lastNumber).enumerated()
        where count != frames[number] && count != 0 {
            guard number == index.count - 1, count > frames[number] else { return nil }
        }
        return frames
    }
}

// MARK: Looking

extension AvScan {
    private mutating func look(
        through container: AvContainer, _ stream: AvStream, decodesAll: Bool
    ) throws(AudioFileError) {
        container.select(stream)
        let decoder = try container.makeDecoder()
        while true {
            switch container.readPacket() {
            case .packet(let packet):
                let number = index.count
                endsCutOff = packet.isCutOff
                guard number < PacketIndex.mostPackets else {
                    throw .cannotRead(path: container.path, reason: "it has more packets than any music")
                }
                note(packet)
                guard decodesAll || number < Self.probedPackets else { continue }
                guard decode(packet, number, with: decoder) else { return }
            case .end:
                if endsCutOff, index.count > 1 {
                    _ = fail(at: index.count - 1, "the file ends there")
                    return
                }
                if decodesAll || index.count <= Self.probedPackets {
                    _ = decode(nil, index.count, with: decoder)
                }
                return
            case .failed(let reason):
                flaw = reason
                if container.watch.isOver { throw .cannotRead(path: container.path, reason: reason) }
                return
            }
        }
    }

    private mutating func note(_ packet: AvPacket) {
        paddingBehind = packet.paddingBehind
        index.append(packet.mark, frames: 0)
        counts.append(0)
        durations.append(packet.duration)
    }

    /// Decodes a packet, or with nil what is left; false where the file breaks off there.
    private mutating func decode(
        _ packet: AvPacket?, _ number: Int, with decoder: AvDecoder
    ) -> Bool {
        if let reason = decoder.send(packet, number: number) { return fail(at: number, reason) }
        while true {
            switch decoder.receive() {
            case .frames:
                guard suits(decoder) else {
                    return fail(
                        at: decoder.packetNumber ?? lastNumber, "its rate or its channels change there")
                }
                guard !counts.isEmpty else { return true }
                lastNumber = min(max(lastNumber, decoder.packetNumber ?? lastNumber), counts.count - 1)
                counts[lastNumber] += Int64(decoder.frameCount)
                decodedFrames += Int64(decoder.frameCount)
            case .hungry, .end: return true
            case .failed(let reason): return fail(at: number, reason)
            }
        }
    }

    /// Whether what came out is like what came before; the first says what that is.
    private mutating func suits(_ decoder: AvDecoder) -> Bool {
        if decodedFrames == 0 {
            (sampleRate, channelCount) = (decoder.sampleRate, decoder.channelCount)
            padding = decoder.padding
        }
        return sampleRate == decoder.sampleRate && channelCount == decoder.channelCount
    }

    /// Packets that do not decode before any that does are of no account; behind them the file breaks off.
    private mutating func fail(at number: Int, _ reason: String) -> Bool {
        guard decodedFrames > 0 else {
            flaw = flaw ?? reason
            return true
        }
        flaw = reason
        let number = min(max(0, number), index.count)
        index.cut(at: number)
        counts.removeLast(counts.count - number)
        durations.removeLast(durations.count - number)
        return false
    }
}
