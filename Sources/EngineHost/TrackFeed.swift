import Glibc
import RenderCore
import Synchronization

/// **Streaming:** a track's rings, and what they are filled from.
@safe
final class TrackFeed: @unchecked Sendable {
    let slot: SlotID
    let ring: TrackRing
    let link: UnsafeMutablePointer<PlayerLink>
    let stream: TrackStream
    private let ringFrames: Int
    private let report: @Sendable (SlotID, SourceFailure) -> Void

    // Guarded by the streaming service's monitor.
    /// Whether a thread reads the track's media.
    var isInHand = false
    /// Whether the track has been taken out: nothing of it may be touched any more. It changes while no thread has a
    /// voice of it, or its media, in hand.
    var isGone = false

    init(
        slot: SlotID, stream: TrackStream, ring: TrackRing, link: UnsafeMutablePointer<PlayerLink>,
        ringFrames: Int, report: @escaping @Sendable (SlotID, SourceFailure) -> Void
    ) {
        self.slot = slot
        self.stream = stream
        self.ring = ring
        unsafe self.link = link
        self.ringFrames = ringFrames
        self.report = report
    }

    var channelCount: Int { stream.channelCount }

    /// The track's media on `course`.
    func media(on course: Course) -> MediaStream {
        MediaStream(stream, on: course) { [report, slot] in report(slot, $0) }
    }

    /// Copies `count` frames to the ring of `lane`, page by page, from stream frame `frame` on; they are `channelCount`
    /// of the channels in each `stride` samples of `frames`.
    func store(_ frames: UnsafePointer<Float>, stride: Int, _ count: Int, lane: Int, at frame: Int64) {
        var done = 0
        while done < count {
            let offset = Int((frame + Int64(done)) & Int64(ringFrames - 1))
            let run = min(count - done, TrackRing.pageFrames - offset % TrackRing.pageFrames)
            let page = unsafe ring.frame(lane * ringFrames + offset)
            let from = unsafe frames + done * stride
            if stride == channelCount {
                unsafe page.update(from: from, count: run * channelCount)
            } else {
                for n in 0..<run {
                    for c in 0..<channelCount { unsafe page[n * channelCount + c] = from[n * stride + c] }
                }
            }
            done += run
        }
    }

    /// Compares the first `frames` of `lane`, or those of them that are below `written`, with what the other lane will
    /// play from stream frame `oldFrame` on, and notes how much they resemble each other, for the crossover.
    func noteLikeness(lane: Int, written: Int64, oldFrame: Int64, frames: Int) {
        let old = unsafe link.lane(1 - lane)
        let oldEnd = unsafe min(
            old.pointee.written.load(ordering: .acquiring), old.pointee.end.load(ordering: .acquiring))
        let comparable = Int(min(Int64(frames), oldEnd - oldFrame, written))
        let likeness =
            comparable >= frames / 4
            ? Likeness.between(
                ring, from: { (1 - lane) * ringFrames + Int((oldFrame + $0) & Int64(ringFrames - 1)) },
                and: { lane * ringFrames + Int($0) }, frames: comparable)
            : 1
        unsafe link.lane(lane).pointee.likeness.store(UInt16(likeness * 1000), ordering: .releasing)
    }
}
