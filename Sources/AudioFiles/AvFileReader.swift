import CAvformat

/// **Streaming:** the frames of one audio stream of a file that libav opens, at its own rate, from any place.
///
/// A lossy codec's decoder remembers, and some add noise from a generator of their own. So the stream is cut into
/// segments, and each is decoded by a decoder that starts anew a little before it: a frame's bits depend on its
/// number, not on where reading began (docs/decisions.md, "Segments of coded streams").
@safe final class AvFileReader: FrameReader {
    let channelCount: Int
    let sampleRate: Int
    let frameCount: Int64
    private(set) var readableFrames: Int64
    private(set) var damage: AudioFileError?
    let truncation: AudioFileError?
    private(set) var nonFiniteSampleCount = 0

    private let path: String
    private let packets: PacketSource
    private let segments: StreamSegments
    private let trim: AvTrim

    /// Frames that packets may lack in a row before that is damage.
    private static let longestGap: Int64 = 1 << 18

    private var decoder: AvDecoder?
    private var nextPacket = 0
    /// Where the segment that is decoded begins and ends, among the frames that the stream decodes to.
    private var segment: Range<Int64> = 0..<0
    /// Frames that came out last, and where the first of them lies.
    private var held: [Float] = []
    private var heldCount = 0
    private var heldStart: Int64 = 0
    /// Where the next frames should lie.
    private var expected: Int64 = 0

    /// Opens the audio stream numbered `stream`, from 0, of the file at `path`, and looks through it once.
    init(path: String, stream number: Int) throws(AudioFileError) {
        let container = try AvContainer(path: path)
        let streamCount = container.streams.count
        guard container.streams.indices.contains(number) else {
            throw .noStream(path: path, stream: number, streamCount: streamCount)
        }
        let stream = container.streams[number]
        container.watch.allow(.seconds(20 + container.byteCount / 4_000_000))
        let scan = try AvScan(container, stream)
        guard 1...64 ~= scan.channelCount else {
            throw .tooManyChannels(path: path, channelCount: scan.channelCount)
        }
        self.path = path
        channelCount = scan.channelCount
        sampleRate = scan.sampleRate
        let padding = AvPadding(container, stream, scan)
        trim = AvTrim(padding.evidence)
        frameCount = trim.length
        readableFrames = frameCount
        truncation = padding.truncation(trim)
        segments = StreamSegments(stream.codec, scan)
        packets = PacketSource(container, stream, scan.index, keptCount: segments.preRollPackets + 16)
    }

    func read(
        from frame: Int64, into buffer: UnsafeMutablePointer<Float>, count: Int
    ) throws(AudioFileError) -> Int {
        packets.watch.allow(.seconds(20))
        var done = 0
        while done < count, frame + Int64(done) < readableFrames {
            let place = trim.start + frame + Int64(done)
            let wanted = Int(min(Int64(count - done), readableFrames - frame - Int64(done)))
            let taken = unsafe take(from: place, into: buffer + done * channelCount, count: wanted)
            done += taken
            guard taken == 0 else { continue }
            if packets.watch.isOver {
                breakOff(packets.watch.reason)
                continue
            }
            if !leads(to: place) { try restart(at: place) }
            try advance()
        }
        return done
    }

    /// Takes frames that are there already.
    private func take(from place: Int64, into buffer: UnsafeMutablePointer<Float>, count: Int) -> Int {
        let end = min(heldStart + Int64(heldCount), segment.upperBound)
        guard heldStart <= place, place < end, segment.contains(place) else { return 0 }
        let n = min(count, Int(end - place))
        let offset = Int(place - heldStart) * channelCount
        unsafe held.withUnsafeBufferPointer {
            unsafe buffer.update(from: $0.baseAddress! + offset, count: n * channelCount)
        }
        return n
    }

    /// Whether decoding on comes to `place`, and no other way is shorter.
    private func leads(to place: Int64) -> Bool {
        guard decoder != nil, segment.contains(place) else { return false }
        guard expected <= place else { return false }
        return place - expected <= segments.farthestAhead
            || packets.index.packet(holding: place) <= nextPacket
    }

    /// Starts a decoder anew where it has heard enough once it comes to `place`.
    private func restart(at place: Int64) throws(AudioFileError) {
        decoder = try packets.makeDecoder()
        (segment, nextPacket) = segments.entry(for: place)
        heldCount = 0
        expected = packets.index.starts[nextPacket]
    }

    /// Decodes the next frames, or notes that the file breaks off.
    private func advance() throws(AudioFileError) {
        guard let decoder else { return breakOff("it cannot be decoded") }
        while true {
            switch decoder.receive() {
            case .frames: return keep(decoder)
            case .end: return breakOff("the file ends there")
            case .failed(let reason): if !forgives(nextPacket - 1, reason) { return }
            case .hungry: if try !feed(decoder) { return }
            }
        }
    }

    /// Gives the decoder its next packet; false where that is damaged.
    private func feed(_ decoder: AvDecoder) throws(AudioFileError) -> Bool {
        let packet = try packets.packet(nextPacket)
        if packet == nil, nextPacket < packets.index.count {
            let reason = packets.watch.isOver ? packets.watch.reason : "the file ends there"
            breakOff(reason)
            return false
        }
        let reason = decoder.send(packet, number: nextPacket)
        nextPacket += 1
        guard let reason else { return true }
        return forgives(nextPacket - 1, reason)
    }

    /// Whether it is of no account that a packet does not decode: before the segment, or where it holds nothing.
    private func forgives(_ number: Int, _ reason: String) -> Bool {
        let starts = packets.index.starts
        let (start, end) = (starts[max(0, number)], starts[min(starts.count - 1, number + 1)])
        if end <= segment.lowerBound || start == end { return true }
        breakOff(reason)
        return false
    }

    /// Takes over what the decoder has. Where a packet decoded to less than its length, silence stands for the rest.
    private func keep(_ decoder: AvDecoder) {
        let start =
            decoder.packetNumber.map { packets.index.starts[min(max(0, $0), packets.index.count)] }
            ?? expected
        guard decoder.channelCount == channelCount, decoder.sampleRate == sampleRate else {
            return breakOff("its rate or its channels change there")
        }
        let gap = max(0, start - expected)
        guard gap <= Self.longestGap else { return breakOff("it lacks what lies behind") }
        nonFiniteSampleCount += decoder.takeFrames(into: &held)
        heldCount = decoder.frameCount
        if gap > 0 {
            held.insert(contentsOf: repeatElement(0, count: Int(gap) * channelCount), at: 0)
            heldCount += Int(gap)
        }
        heldStart = start - gap
        expected = heldStart + Int64(heldCount)
    }

    /// Notes that nothing comes behind the frames that did: at a place that was asked for, or before it.
    private func breakOff(_ reason: String) {
        let frame = min(max(0, max(expected, segment.lowerBound) - trim.start), readableFrames)
        readableFrames = frame
        damage = .breaksOff(path: path, frame: frame, reason: reason)
        decoder = nil
    }
}
