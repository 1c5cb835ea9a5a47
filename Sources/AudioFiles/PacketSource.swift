/// **Streaming:** the packets of a stream by their numbers.
///
/// The last ones are kept, so that a decoder can start anew a little further back without a seek. Where a seek of the
/// container leads is told by the packet that comes next: it is looked up in the index, never believed.
final class PacketSource {
    let index: PacketIndex

    private var container: AvContainer
    private let stream: AvStream
    private let keptCount: Int
    private var kept: [AvPacket] = []
    /// The number of the first packet that is kept.
    private var firstKept: Int
    /// The number of the packet that the container gives next.
    private var next: Int

    /// Packets that are rather read over than jumped.
    private static let nearPackets = 48

    /// The packets of `stream`, whose container stands behind the last of them; `keptCount` of them are kept.
    init(_ container: AvContainer, _ stream: AvStream, _ index: PacketIndex, keptCount: Int) {
        self.container = container
        self.stream = stream
        self.index = index
        self.keptCount = max(2, keptCount)
        next = index.count
        firstKept = index.count
        container.select(stream)
    }

    /// A decoder for the stream, at its start.
    func makeDecoder() throws(AudioFileError) -> AvDecoder { try container.makeDecoder() }

    /// What keeps a read from lasting for ever.
    var watch: AvWatch { container.watch }

    /// The packet `number`; nil where the file does not give it any more.
    func packet(_ number: Int) throws(AudioFileError) -> AvPacket? {
        guard number < index.count else { return nil }
        if number < firstKept || number > next + Self.nearPackets { try seek(to: number) }
        while next <= number {
            guard readNext() else { return nil }
        }
        return kept[number - firstKept]
    }

    /// Reads one packet on, and keeps it.
    private func readNext() -> Bool {
        guard case .packet(let packet) = container.readPacket() else { return false }
        if kept.isEmpty { firstKept = next }
        if kept.count == keptCount {
            kept.removeFirst()
            firstKept += 1
        }
        kept.append(packet)
        next += 1
        return true
    }

    private func forget() {
        kept.removeAll()
        firstKept = next
    }

    /// Makes `number` one of the next packets: by a seek that lands at it or before it, else from the start.
    private func seek(to number: Int) throws(AudioFileError) {
        forget()
        for distance in [0, 8, 64] where number - distance > 0 {
            let target = index.marks[number - distance]
            guard container.seek(to: target.time), let landed = landing(), landed <= number else { continue }
            return
        }
        forget()
        let watch = container.watch
        container = try AvContainer(path: container.path)
        container.watch.takeOver(watch)
        container.select(stream)
        (next, firstKept) = (0, 0)
    }

    /// Reads the packet that the container stands at and returns its number, if it is told by it.
    private func landing() -> Int? {
        forget()
        guard case .packet(let packet) = container.readPacket(), let number = index.number(of: packet.mark)
        else { return nil }
        kept = [packet]
        firstKept = number
        next = number + 1
        return number
    }
}
