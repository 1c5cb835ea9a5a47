import CRealtime
import Glibc
import RenderCore
import Synchronization

/// The threads that keep every track's ring filled, the most starved first.
///
/// **Control** adds and removes feeds and turns them all to a new stream; the threads wait for nobody but the
/// disk. The audio thread is not told of them: they look at how far it has come.
@safe
public final class StreamingService: @unchecked Sendable {
    private let monitor = Monitor()
    private let lanes: UnsafeMutablePointer<Lane>
    private let ringFrames: Int
    private let crossoverFrames: Int
    private let pollMilliseconds: Int

    // Guarded by the monitor.
    private var feeds: [TrackFeed] = []
    private var queue: [TrackFeed] = []
    private var target: Target?
    private var unprimed = 0
    private var whenPrimed: (@Sendable () -> Void)?
    private var runningThreads = 0
    private var idleThreads = 0
    private var isStopping = false
    /// Until when the threads leave the processors to whoever waited for the stream to be primed, and its lane.
    private var courtesy: (lane: Int, end: ContinuousClock.Instant)?

    /// The stream that all feeds write.
    private struct Target {
        var map: StreamMap
        var lane: Int
        var generation: UInt32
        var oldFrame: Int64?
        /// What a feed must have ready to be primed.
        var frames: Int
    }

    /// How long the threads rest at most once a stream is primed. They run before all others and would keep every
    /// processor until the rings are full, while the command that goes to the stream waits for one.
    private static let longestCourtesy = Duration.milliseconds(10)

    /// Nanoseconds of processor time after which a thread in real time rests, and microseconds that it rests. Linux
    /// stops all real-time threads of a processor, JACK's too, for 50 ms once they have kept it for 950 ms of a
    /// second (`sched_rt_runtime_us`), as many stems that are located again and again would.
    private static let longestRun: Int64 = 20_000_000
    private static let rest: UInt32 = 5_000

    /// Frames that one turn of a feed writes at most.
    private static let turnFrames = 16_384

    init(
        lanes: UnsafeMutablePointer<Lane>, ringFrames: Int, crossoverFrames: Int,
        sampleRate: Int
    ) {
        unsafe self.lanes = lanes
        self.ringFrames = ringFrames
        self.crossoverFrames = crossoverFrames
        pollMilliseconds = max(1, ringFrames * 1000 / sampleRate / 16)
    }

    /// Starts `count` threads, at real-time priority `priority` where the system permits and it is not nil.
    public func start(threads count: Int, priority: Int?) {
        monitor.locked { runningThreads += count }
        for number in 0..<count {
            StreamingThread.start(name: "stream \(number + 1)", priority: priority) { [self] in
                work(rests: priority != nil)
            }
        }
    }

    /// Ends the threads and waits until they have gone. Who still waits for a stream to be primed is called too.
    public func stop() {
        let callback = monitor.locked {
            isStopping = true
            monitor.wakeAll()
            while runningThreads > 0 { monitor.wait() }
            isStopping = false
            defer { whenPrimed = nil }
            return whenPrimed
        }
        callback?()
    }

    func add(_ newFeeds: [TrackFeed]) {
        monitor.locked { feeds += newFeeds }
    }

    /// Takes a feed out, once no thread has it in hand.
    func remove(_ feed: TrackFeed) {
        let callback = monitor.locked {
            feeds.removeAll { $0 === feed }
            queue.removeAll { $0 === feed }
            while feed.isInHand { monitor.wait() }
            notePrimed(feed)
            return takePrimedCallback()
        }
        callback?()
    }

    /// Turns every feed to a new stream in `lane`, and calls `whenPrimed` on a streaming thread when each has
    /// enough to start with, or when the threads stop before that. `oldFrame` is where the stream that sounds will
    /// be left, if one does.
    func prime(
        _ map: StreamMap, lane: Int, generation: UInt32, oldFrame: Int64?, frames: Int,
        whenPrimed: @escaping @Sendable () -> Void
    ) {
        let nothingToDo = monitor.locked {
            target = Target(map: map, lane: lane, generation: generation, oldFrame: oldFrame, frames: frames)
            unsafe lanes[lane].consumed.store(0, ordering: .releasing)
            unprimed = feeds.count
            for feed in feeds { feed.isPrimed = false }
            queue = []
            courtesy = nil
            self.whenPrimed = whenPrimed
            monitor.wakeAll()
            return feeds.isEmpty
        }
        if nothingToDo { whenPrimed() }
    }

    /// The timeline position behind the last sound of all tracks; nil when one plays for ever.
    public var sessionEnd: Int64? {
        monitor.locked {
            var last: Int64 = 0
            for feed in feeds {
                guard let end = feed.sessionEnd else { return nil }
                last = max(last, end)
            }
            return last
        }
    }

    /// Tells every feed whether a start at `position` in `lane` must fade in.
    func noteStart(at position: Int64, lane: Int) {
        let all = monitor.locked { feeds }
        for feed in all {
            unsafe feed.link.lane(lane).pointee.startsInside.store(
                feed.isInside(position), ordering: .releasing)
        }
    }

    /// Waits until every feed has `frames` ready to be heard, beyond what is consumed, or all that there is.
    public func waitForData(_ frames: Int) {
        monitor.locked {
            courtesy = nil
            while let target, !feeds.allSatisfy({ isReady($0, frames, target) }) {
                monitor.wakeAll()
                monitor.wait(milliseconds: 100)
            }
            // Whoever waits may be faster than time: the threads go on while it renders, not when it runs dry.
            if idleThreads > 0, let target, feeds.contains(where: { wants($0, target) }) { monitor.wakeAll() }
        }
    }

    /// Whether every feed has `frames` ready to be heard, beyond what is consumed, or all that there is.
    func hasData(_ frames: Int) -> Bool {
        monitor.locked {
            guard let target else { return true }
            return feeds.allSatisfy { isReady($0, frames, target) }
        }
    }

    private func isReady(_ feed: TrackFeed, _ frames: Int, _ target: Target) -> Bool {
        guard feed.generation == target.generation else { return false }
        let link = unsafe feed.link.lane(target.lane)
        if unsafe link.pointee.end.load(ordering: .acquiring) != .max { return true }
        let consumed = unsafe lanes[target.lane].consumed.load(ordering: .acquiring)
        return unsafe link.pointee.written.load(ordering: .acquiring) - consumed >= Int64(frames)
    }

    // MARK: The threads

    private func work(rests: Bool) {
        let buffer = PieceBuffer()
        var restedAt = rt_thread_cpu_nanoseconds()
        while let (feed, target, isPrimed) = nextFeed() {
            serve(feed, target, isPrimed: isPrimed, buffer: buffer)
            guard rests, rt_thread_cpu_nanoseconds() - restedAt > Self.longestRun else { continue }
            usleep(Self.rest)
            restedAt = rt_thread_cpu_nanoseconds()
        }
        monitor.locked {
            runningThreads -= 1
            monitor.wakeAll()
        }
    }

    /// The feed that needs data most, in hand, with what it is to write and whether it has enough to start with;
    /// nil when the service stops.
    private func nextFeed() -> (TrackFeed, Target, isPrimed: Bool)? {
        monitor.locked {
            while !isStopping {
                if isResting() {
                    monitor.wait(milliseconds: 1)
                    continue
                }
                if let target {
                    if queue.isEmpty { queue = needy(target) }
                    while let feed = queue.popLast() {
                        if !feed.isInHand {
                            feed.isInHand = true
                            return (feed, target, feed.isPrimed)
                        }
                    }
                }
                idleThreads += 1
                monitor.wait(milliseconds: pollMilliseconds)
                idleThreads -= 1
            }
            return nil
        }
    }

    /// Whether a stream has just been primed and not been gone to yet.
    private func isResting() -> Bool {
        guard let courtesy else { return false }
        if unsafe lanes[courtesy.lane].consumed.load(ordering: .acquiring) == 0, .now < courtesy.end {
            return true
        }
        self.courtesy = nil
        return false
    }

    /// Whether a feed has room for a turn.
    private func wants(_ feed: TrackFeed, _ target: Target) -> Bool {
        if feed.isInHand { return false }
        if feed.generation != target.generation { return true }
        let consumed = unsafe lanes[target.lane].consumed.load(ordering: .acquiring)
        return feed.room(consumed: consumed) >= ringFrames / 4
    }

    /// Feeds that want data, the most starved last.
    private func needy(_ target: Target) -> [TrackFeed] {
        let consumed = unsafe lanes[target.lane].consumed.load(ordering: .acquiring)
        let threshold = unprimed > 0 ? 1 : ringFrames / 4
        var list: [(feed: TrackFeed, fill: Int64)] = []
        for feed in feeds where !feed.isInHand {
            if feed.generation != target.generation {
                list.append((feed, -1))
            } else if feed.room(consumed: consumed) >= threshold {
                list.append((feed, feed.fill(consumed: consumed)))
            }
        }
        return list.sorted { $0.fill > $1.fill }.map(\.feed)
    }

    private func serve(_ feed: TrackFeed, _ target: Target, isPrimed: Bool, buffer: PieceBuffer) {
        let consumed = unsafe lanes[target.lane].consumed.load(ordering: .acquiring)
        if feed.generation != target.generation {
            // A track that joins a stream under way begins where that has come to.
            feed.turn(to: target.map, lane: target.lane, from: consumed)
        }
        // Behind a locate every track gets a little before any gets much.
        let isShort = feed.fill(consumed: consumed) < Int64(Self.turnFrames)
        let wanted = !isPrimed ? target.frames : isShort ? PieceBuffer.frames : Self.turnFrames
        feed.write(min(wanted, feed.room(consumed: consumed)), consumed: consumed, buffer: buffer)
        if !isPrimed, let oldFrame = target.oldFrame {
            feed.noteLikeness(oldFrame: oldFrame, frames: crossoverFrames)
        }
        let callback = monitor.locked {
            feed.generation = target.generation
            feed.isInHand = false
            if self.target?.generation == target.generation { notePrimed(feed) }
            monitor.wakeAll()
            return takePrimedCallback()
        }
        callback?()
    }

    /// Once every feed is primed: what is to be called, one time.
    private func takePrimedCallback() -> (@Sendable () -> Void)? {
        guard unprimed == 0, let callback = whenPrimed else { return nil }
        whenPrimed = nil
        if let target { courtesy = (target.lane, .now + Self.longestCourtesy) }
        return callback
    }

    private func notePrimed(_ feed: TrackFeed) {
        if !feed.isPrimed {
            feed.isPrimed = true
            unprimed -= 1
        }
    }
}
