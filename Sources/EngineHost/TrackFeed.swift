import Glibc
import RenderCore
import Synchronization

/// **Streaming:** keeps one track's lanes filled. One thread at a time has it in hand.
@safe
final class TrackFeed: @unchecked Sendable {
    let slot: SlotID
    let channelCount: Int
    let ring: TrackRing
    let link: UnsafeMutablePointer<PlayerLink>
    private let ringFrames: Int
    private let stream: TrackStream
    private let report: @Sendable (SlotID, SourceFailure) -> Void

    // Guarded by the streaming service's monitor.
    var isInHand = false
    /// The stream that the feed writes.
    var generation: UInt32 = 0
    var isPrimed = true

    // Of the thread that has the feed in hand.
    private(set) var lane = 0
    private var map = StreamMap(start: 0)
    private var end = Int64.max
    private(set) var cursor: Int64 = 0
    private(set) var isDone = true

    init(
        slot: SlotID, stream: TrackStream, ring: TrackRing, link: UnsafeMutablePointer<PlayerLink>,
        ringFrames: Int,
        report: @escaping @Sendable (SlotID, SourceFailure) -> Void
    ) {
        self.slot = slot
        self.stream = stream
        channelCount = stream.channelCount
        self.ring = ring
        unsafe self.link = link
        self.ringFrames = ringFrames
        self.report = report
    }

    /// The timeline position behind the track's last sound; nil when it plays for ever.
    var sessionEnd: Int64? { stream.end }

    /// Whether a start at the timeline position `position` must fade in.
    func isInside(_ position: Int64) -> Bool { stream.isInside(position) }

    /// Turns to a new stream, in `lane`, from stream frame `first` on.
    func turn(to map: StreamMap, lane: Int, from first: Int64) {
        self.map = map
        self.lane = lane
        cursor = first
        isDone = false
        end = map.loop == nil ? stream.end.map { max(0, $0 - map.start) } ?? .max : .max
        let link = unsafe self.link.lane(lane)
        unsafe link.pointee.written.store(first, ordering: .relaxed)
        unsafe link.pointee.end.store(.max, ordering: .relaxed)
        unsafe link.pointee.startsInside.store(stream.isInside(map.position(of: first)), ordering: .releasing)
        finishIfAtEnd()
    }

    /// How many frames the lane lacks.
    func room(consumed: Int64) -> Int {
        isDone ? 0 : Int(Int64(ringFrames) - max(0, cursor - consumed))
    }

    /// How many frames are ready to be heard.
    func fill(consumed: Int64) -> Int64 {
        isDone ? .max : cursor - consumed
    }

    /// Writes up to `count` frames, for which there must be room, by way of `buffer`.
    func write(_ count: Int, consumed: Int64, buffer: PieceBuffer) {
        if cursor < consumed { cursor = consumed }
        var left = count
        let piece = unsafe buffer.piece(channelCount: channelCount)
        while left > 0 && !isDone {
            let position = map.position(of: cursor)
            var frames = min(left, PieceBuffer.frames)
            frames = Int(min(Int64(frames), map.contiguousFrames(from: position), end - cursor))
            if frames > 0 {
                frames = unsafe stream.read(at: position, into: piece, count: frames) { report(slot, $0) }
                unsafe store(piece, frames)
                cursor += Int64(frames)
                left -= frames
                unsafe link.lane(lane).pointee.written.store(cursor, ordering: .releasing)
            }
            finishIfAtEnd()
        }
    }

    /// Copies `count` frames to the ring, page by page, from the cursor on.
    private func store(_ frames: UnsafePointer<Float>, _ count: Int) {
        var done = 0
        while done < count {
            let offset = Int((cursor + Int64(done)) & Int64(ringFrames - 1))
            let run = min(count - done, TrackRing.pageFrames - offset % TrackRing.pageFrames)
            unsafe ring.frame(lane * ringFrames + offset).update(
                from: frames + done * channelCount, count: run * channelCount)
            done += run
        }
    }

    private func finishIfAtEnd() {
        guard cursor >= end else { return }
        isDone = true
        unsafe link.lane(lane).pointee.written.store(end, ordering: .releasing)
        unsafe link.lane(lane).pointee.end.store(end, ordering: .releasing)
    }

    /// Compares the first `frames` of the lane with what the other lane will play from stream frame `oldFrame`
    /// on, and notes how much they resemble each other, for the crossover.
    func noteLikeness(oldFrame: Int64, frames: Int) {
        let old = unsafe link.lane(1 - lane)
        let oldEnd = unsafe min(
            old.pointee.written.load(ordering: .acquiring), old.pointee.end.load(ordering: .acquiring))
        let isComparable = oldEnd >= oldFrame + Int64(frames) && cursor >= Int64(frames)
        let likeness =
            isComparable
            ? Likeness.between(
                ring, from: { (1 - lane) * ringFrames + Int((oldFrame + $0) & Int64(ringFrames - 1)) },
                and: { lane * ringFrames + Int($0) }, frames: frames)
            : 1
        unsafe link.lane(lane).pointee.likeness.store(UInt16(likeness * 1000), ordering: .releasing)
    }
}
