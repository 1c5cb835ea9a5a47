import Stretch
import Synchronization

/// **Streaming:** media of a track that are kept ahead for a stretcher, so that it never waits for a disk.
///
/// One thread at a time fills it and one at a time reads it, the two at once. Frames are read in order.
@safe
final class Reservoir: StretchSource, @unchecked Sendable {
    let feed: TrackFeed
    let channelCount: Int
    private let media: MediaStream
    private let capacity: Int64
    private let samples: UnsafeMutablePointer<Float>
    /// Media frames below this one are there.
    private let filled: Atomic<Int64>
    /// Media frames below this one are not needed any more.
    private let taken: Atomic<Int64>
    private let end: Atomic<Int64>
    /// The media frame that a stretcher begins at; what lies before it is its past.
    private let start: Atomic<Int64>

    // Guarded by the streaming service's monitor.
    var isInHand = false
    /// Where the media lie from now on; what has been filled by another course is filled again.
    var news: Course?

    /// Frames that are read at a time.
    static let turnFrames = 4_096
    /// Frames that a stretcher hears before the first that it is to make: half of the longest window.
    private static let past: Int64 = 8_192
    /// Frames that must be there, or all that there are, before a stretcher is asked for a piece: a window, and what a
    /// piece takes at the highest rate.
    private let leastFrames: Int64

    /// A reservoir for `media` of `feed`, for a stretcher that begins at `place`. It holds 1.4 s at 48 kHz.
    init(_ media: MediaStream, of feed: TrackFeed, at place: SourcePosition, sampleRate: Int) {
        self.media = media
        self.feed = feed
        channelCount = media.channelCount
        leastFrames = Int64((sampleRate + 47_999) / 48_000 * 8_192)
        capacity = 8 * leastFrames
        let capacity = Int(capacity)
        let first = max(0, place.frame - Self.past)
        unsafe samples = .allocate(capacity: capacity * media.channelCount)
        filled = Atomic(first)
        taken = Atomic(first)
        end = Atomic(media.frameCount)
        start = Atomic(place.frame)
    }

    deinit { unsafe samples.deallocate() }

    /// The media frame behind the last sound.
    var frameCount: Int64 { end.load(ordering: .acquiring) }

    /// Frames that are there of what the stretcher is still to come to.
    var level: Int64 {
        filled.load(ordering: .acquiring)
            - max(taken.load(ordering: .acquiring), start.load(ordering: .acquiring))
    }

    private var room: Int64 {
        capacity - (filled.load(ordering: .acquiring) - taken.load(ordering: .acquiring))
    }

    /// Whether a stretcher can be asked for a piece. Of a track that was taken out it gets silence.
    var isReady: Bool { level >= leastFrames || isComplete || feed.isGone }

    /// Whether there is room for a turn.
    var wantsMore: Bool { !isComplete && !feed.isGone && room >= Int64(Self.turnFrames) }

    private var isComplete: Bool { filled.load(ordering: .acquiring) >= frameCount }

    // MARK: Of who fills it

    /// Reads one turn more. What lies behind the media's end is left out.
    func fill() {
        let from = filled.load(ordering: .relaxed)
        var left = min(Int64(Self.turnFrames), room, frameCount - from)
        var frame = from
        while left > 0 {
            let offset = frame % capacity
            let run = Int(min(left, capacity - offset))
            let read = unsafe media.readSome(
                from: frame, into: samples + Int(offset) * channelCount, count: run)
            frame += Int64(read)
            left -= Int64(read)
        }
        filled.store(frame, ordering: .releasing)
    }

    // MARK: Of who has both sides

    /// Goes on by another course: what has not been taken is read again.
    func follow(_ course: Course) {
        media.follow(course)
        end.store(media.frameCount, ordering: .releasing)
        filled.store(
            min(filled.load(ordering: .relaxed), taken.load(ordering: .relaxed)), ordering: .releasing)
    }

    /// Begins anew, for a stretcher that goes on at `place`.
    func begin(at place: SourcePosition) {
        let first = max(0, place.frame - Self.past)
        let kept = filled.load(ordering: .relaxed)
        let isKept = first >= taken.load(ordering: .relaxed) && first <= kept
        start.store(place.frame, ordering: .relaxed)
        taken.store(first, ordering: .relaxed)
        filled.store(isKept ? kept : first, ordering: .releasing)
    }

    // MARK: Of who reads it

    /// Reads what is there of the `count` frames from `frame` on.
    func read(from frame: Int64, into buffer: UnsafeMutablePointer<Float>, count: Int) -> Int {
        let there = filled.load(ordering: .acquiring)
        var done = 0
        // What lies before all that has been kept is silence.
        let before = Int(min(Int64(count), max(0, taken.load(ordering: .relaxed) - frame)))
        unsafe buffer.update(repeating: 0, count: before * channelCount)
        done = before
        while done < count, frame + Int64(done) < there {
            let offset = (frame + Int64(done)) % capacity
            let run = Int(min(Int64(count - done), capacity - offset, there - frame - Int64(done)))
            unsafe (buffer + done * channelCount).update(
                from: samples + Int(offset) * channelCount, count: run * channelCount)
            done += run
        }
        taken.store(max(taken.load(ordering: .relaxed), frame + Int64(count)), ordering: .releasing)
        return done
    }
}
