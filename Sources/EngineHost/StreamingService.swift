import CRealtime
import Glibc
import RenderCore
import Synchronization

/// The threads that keep every track's ring filled, the most starved first.
///
/// **Control** hands over the voices of a new stream; the threads wait for nobody but the disk. The audio thread is not
/// told of them: they look at how far it has come.
@safe
public final class StreamingService: @unchecked Sendable {
    private let monitor = Monitor()
    private let lanes: UnsafeMutablePointer<Lane>
    private let ringFrames: Int
    private let crossoverFrames: Int
    private let sampleRate: Int
    /// Processor time that stretching, and playing as a tape, have taken.
    public let stretchNanoseconds = Atomic<Int64>(0)

    // Guarded by the monitor.
    /// The stream that is gone to, or will be; and what is stretched of the one before, which sounds until then.
    private var target: Target?
    private var leaving: [Voice] = []
    /// Voices of streams that are over, for control to free: they are large.
    private var spent: [Voice] = []
    private var queue: [Job] = []
    private var period = 0
    private var unprimed = 0
    private var whenPrimed: (@Sendable () -> Void)?
    private var runningThreads = 0
    private var idleThreads = 0
    private var isStopping = false
    /// The voices that threads have in hand, those of streams that are over among them.
    private var writing: [Voice] = []
    /// Control waits to take a track out: no thread begins with a voice.
    private var isHeld = false
    private var pendingTurn: PendingTurn?
    /// Until when the threads leave the processors to whoever waited for the stream to be primed, and its lane.
    private var courtesy: (lane: Int, end: ContinuousClock.Instant)?
    /// The stream frame up to which somebody waits for data, who may be faster than time.
    private var demand: Int64 = 0
    /// The same of the stream before.
    private var leavingDemand: Int64 = 0

    /// What control wants done while nobody has some voices in hand.
    private struct PendingTurn {
        let voices: [Voice]
        let work: () -> Void
    }

    /// A stream that voices write.
    struct Target {
        var lane: Int
        var generation: UInt32
        /// Where the stream that sounds will be left, if one does.
        var oldFrame: Int64?
        /// What a voice must have ready to be primed.
        var frames: Int
        var voices: [Voice]
    }

    /// What a thread does in one go.
    private enum Job {
        /// Writes frames to lanes.
        case write(Voice, ofOldStream: Bool)
        /// Reads media for a stretcher.
        case read(Reservoir)
    }

    /// How long the threads rest at most once a stream is primed. They run before all others and would keep every
    /// processor until the rings are full, while the command that goes to the stream waits for one.
    private static let longestCourtesy = Duration.milliseconds(10)

    /// Nanoseconds of processor time after which a thread in real time rests, and microseconds that it rests. Linux
    /// stops all real-time threads of a processor, JACK's too, for 50 ms once they have kept it for 950 ms of a
    /// second (`sched_rt_runtime_us`), as many stems that are located again and again would.
    private static let longestRun: Int64 = 20_000_000
    private static let rest: UInt32 = 5_000

    /// Frames that one turn of a voice writes at most.
    private static let turnFrames = 16_384
    /// Frames that a voice which stretches must lack to get a turn.
    private static let leastTurn: Int64 = 128

    init(
        lanes: UnsafeMutablePointer<Lane>, ringFrames: Int, crossoverFrames: Int,
        sampleRate: Int
    ) {
        unsafe self.lanes = lanes
        self.ringFrames = ringFrames
        self.crossoverFrames = crossoverFrames
        self.sampleRate = sampleRate
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

    /// Takes a voice in that joins the stream under way; one that is being primed is primed with it.
    func add(_ voice: Voice) {
        monitor.locked {
            guard target != nil else { return }
            target?.voices.append(voice)
            unprimed += 1
            monitor.wakeAll()
        }
    }

    /// How far the stream in `lane` has been heard.
    func consumed(_ lane: Int) -> Int64 { unsafe lanes[lane].consumed.load(ordering: .acquiring) }

    /// Takes a track out, once no thread has it in hand.
    func remove(_ feed: TrackFeed) {
        let callback = monitor.locked {
            isHeld = true
            while feed.isInHand || writing.contains(where: { $0.feeds.contains { $0 === feed } }) {
                monitor.wait()
            }
            isHeld = false
            feed.isGone = true
            // One that others share goes on for them.
            for voice in target?.voices ?? [] where voice.feeds.allSatisfy(\.isGone) { notePrimed(voice) }
            target?.voices.removeAll { $0.feeds.allSatisfy(\.isGone) }
            leaving.removeAll { $0.feeds.allSatisfy(\.isGone) }
            queue = []
            monitor.wakeAll()
            return takePrimedCallback()
        }
        callback?()
    }

    /// Has the threads write the voices of a new stream, and calls `whenPrimed` on a streaming thread when each has
    /// enough to start with, or when the threads stop before that. Until it is gone to, what is stretched of the stream
    /// that sounds goes on.
    func prime(_ stream: Target, period: Int, whenPrimed: @escaping @Sendable () -> Void) {
        let nothingToDo = monitor.locked {
            queue = []
            if let target, target.lane != stream.lane {
                // Those of the stream before that one are over, but for a turn that a thread has not come to the end of.
                spent += leaving
                leaving = []
                while writing.contains(where: { $0.lane == stream.lane }) { monitor.wait() }
                leaving = target.voices.filter { !$0.isPlain }
            } else {
                spent += target?.voices ?? []
                // It was never gone to, and is given up; the one that sounds is still the one before.
                target = nil
                while writing.contains(where: { $0.lane == stream.lane }) { monitor.wait() }
            }
            target = stream
            for voice in stream.voices { voice.begin() }
            unsafe lanes[stream.lane].consumed.store(0, ordering: .releasing)
            self.period = period
            unprimed = stream.voices.count
            queue = []
            courtesy = nil
            (demand, leavingDemand) = (0, 0)
            self.whenPrimed = whenPrimed
            monitor.wakeAll()
            return stream.voices.isEmpty
        }
        freeSpent()
        if nothingToDo { whenPrimed() }
    }

    /// Frees what streams that are over have been stretched with. Now and then.
    public func freeSpent() {
        let spent = monitor.locked {
            defer { self.spent = [] }
            return self.spent
        }
        // They go here, where nobody waits for the monitor.
        withExtendedLifetime(spent) {}
    }

    /// Blocks have `period` frames from now on.
    public func setPeriod(_ period: Int) {
        monitor.locked { self.period = period }
    }

    /// Turns voices to another rate or pitch on one frame, the first at which all of `turning` can, or `frame` if that is
    /// later. `turns` is told the frame and says what each does. Waits for at most one turn of a thread.
    ///
    /// Where a thread has one of them in hand, that thread does it as soon as it is through: it runs before control, for
    /// which nothing that sounds may wait.
    func turn(
        _ turning: [Voice], at frame: Int64, _ turns: (Int64) -> [(Voice, Voice.Turn, [Course?])]
    ) {
        withoutActuallyEscaping(turns) { turns in
            let work = PendingTurn(voices: turning) {
                let first = turning.reduce(frame) { max($0, $1.firstChange) }
                for (voice, turn, courses) in turns(first) {
                    voice.turn(turn)
                    for (reservoir, course) in zip(voice.reservoirs, courses) where course != nil {
                        reservoir.news = course
                    }
                }
            }
            monitor.locked {
                pendingTurn = work
                doPendingTurn()
                while pendingTurn != nil { monitor.wait() }
            }
        }
    }

    /// Does what control waits for, if nobody has any of its voices in hand.
    private func doPendingTurn() {
        guard let pending = pendingTurn, !pending.voices.contains(where: \.isInHand) else { return }
        pending.work()
        pendingTurn = nil
        monitor.wakeAll()
    }

    /// Waits until every voice has `frames` ready to be heard, beyond what is consumed, or all that there is.
    public func waitForData(_ frames: Int) {
        monitor.locked {
            courtesy = nil
            // With the least that a voice takes a turn for: what lacks less than that would never come.
            if let target {
                demand = max(demand, consumed(target.lane) + Int64(frames) + Self.leastTurn)
            }
            // A stream that is being left must have all that it crosses over with.
            let old = frames + crossoverFrames
            if let lane = leaving.first?.lane {
                leavingDemand = max(leavingDemand, consumed(lane) + Int64(old) + Self.leastTurn)
            }
            while let target, !target.voices.allSatisfy({ isReady($0, frames) }) || !isLeft(target, old) {
                monitor.wakeAll()
                monitor.wait(milliseconds: 100)
            }
            // Whoever waits may be faster than time: the threads go on while it renders, not when it runs dry.
            if idleThreads > 0, let target, target.voices.contains(where: { wants($0, target) }) {
                monitor.wakeAll()
            }
        }
    }

    /// Whether every voice that a new stream would put an end to has `frames` ready to be heard, beyond what is consumed,
    /// or all that there is.
    func hasData(_ frames: Int) -> Bool {
        monitor.locked {
            guard let target else { return true }
            return target.voices.allSatisfy { !$0.isPlain || isReady($0, frames) }
        }
    }

    /// Whether the stream before `target` has been left, or has `frames` of all that is stretched.
    private func isLeft(_ target: Target, _ frames: Int) -> Bool {
        consumed(target.lane) > 0 || leaving.allSatisfy { isReady($0, frames) }
    }

    private func isReady(_ voice: Voice, _ frames: Int) -> Bool {
        guard let feed = voice.feeds.last(where: { !$0.isGone }) else { return true }
        let link = unsafe feed.link.lane(voice.lane)
        if unsafe link.pointee.end.load(ordering: .acquiring) != .max { return true }
        return unsafe link.pointee.written.load(ordering: .acquiring) - consumed(voice.lane) >= Int64(frames)
    }

    // MARK: The threads

    private func work(rests: Bool) {
        let buffer = PieceBuffer()
        var restedAt = rt_thread_cpu_nanoseconds()
        while let job = nextJob() {
            job(buffer)
            guard rests, rt_thread_cpu_nanoseconds() - restedAt > Self.longestRun else { continue }
            usleep(Self.rest)
            restedAt = rt_thread_cpu_nanoseconds()
        }
        monitor.locked {
            runningThreads -= 1
            monitor.wakeAll()
        }
    }

    /// What is most urgent, taken in hand; nil when the service stops.
    private func nextJob() -> ((PieceBuffer) -> Void)? {
        monitor.locked {
            while !isStopping {
                if isResting() {
                    monitor.wait(milliseconds: 1)
                    continue
                }
                if let target {
                    if queue.isEmpty { queue = jobs(target) }
                    while let job = queue.popLast() {
                        if let work = take(job, target) { return work }
                    }
                }
                idleThreads += 1
                monitor.wait(milliseconds: pollMilliseconds)
                idleThreads -= 1
            }
            return nil
        }
    }

    /// How often idle threads look: a sixteenth of a ring, or as often as what is stretched needs.
    private var pollMilliseconds: Int {
        let isStretched = !leaving.isEmpty || (target?.voices.contains { !$0.isPlain } ?? false)
        return isStretched ? 3 : max(1, ringFrames * 1000 / sampleRate / 16)
    }

    /// Whether a stream has just been primed and not been gone to yet.
    private func isResting() -> Bool {
        guard let courtesy else { return false }
        if consumed(courtesy.lane) == 0, .now < courtesy.end { return true }
        self.courtesy = nil
        return false
    }

    /// The stream frame up to which a voice writes.
    private func limit(_ voice: Voice, _ consumed: Int64) -> Int64 {
        let ahead = voice.ahead(ringFrames: ringFrames, period: period)
        if voice.isPlain { return consumed + ahead }
        let isLeaving = voice.lane != target?.lane
        let least = consumed + ahead + (isLeaving ? Int64(crossoverFrames) : 0)
        return max(least, min(isLeaving ? leavingDemand : demand, consumed + Int64(ringFrames)))
    }

    /// Frames that a voice must lack to get a turn.
    private func threshold(_ voice: Voice) -> Int64 {
        if !voice.isPrimed && voice.lane == target?.lane { return 1 }
        return voice.isPlain ? Int64(ringFrames) / 4 : Self.leastTurn
    }

    /// Whether a voice has room for a turn.
    private func wants(_ voice: Voice, _ target: Target) -> Bool {
        if voice.isInHand || voice.isDone { return false }
        let consumed = consumed(voice.lane)
        return limit(voice, consumed) - max(voice.cursor, consumed) >= threshold(voice)
    }

    /// What there is to do, the most urgent last.
    private func jobs(_ target: Target) -> [Job] {
        var list: [(job: Job, fill: Int64)] = []
        if consumed(target.lane) > 0 {
            spent += leaving
            leaving = []
        }
        for voice in leaving {
            if wants(voice, target) {
                // A frame of the stream that sounds is wanted before any of the next.
                let fill = voice.fill(consumed: consumed(voice.lane))
                list.append((.write(voice, ofOldStream: true), fill - Int64(ringFrames)))
            }
            addReads(voice, to: &list)
        }
        for voice in target.voices {
            if wants(voice, target) {
                let fill = voice.isPrimed ? voice.fill(consumed: consumed(target.lane)) : -1
                list.append((.write(voice, ofOldStream: false), fill))
            }
            addReads(voice, to: &list)
        }
        return list.sorted { $0.fill > $1.fill }.map(\.job)
    }

    private func addReads(_ voice: Voice, to list: inout [(job: Job, fill: Int64)]) {
        let isOld = voice.lane != target?.lane
        for reservoir in voice.reservoirs where reservoir.wantsMore && !(isOld && reservoir.isReady) {
            list.append((.read(reservoir), reservoir.isReady ? reservoir.level / 4 : -2))
        }
    }

    /// Takes what a job needs in hand, and says what is to be done with it; nil where somebody else has it.
    private func take(_ job: Job, _ target: Target) -> ((PieceBuffer) -> Void)? {
        switch job {
        case .write(let voice, let isOld):
            guard wants(voice, target), !isHeld, pendingTurn?.voices.contains(where: { $0 === voice }) != true
            else { return nil }
            let consumed = consumed(voice.lane)
            let courses = voice.reservoirs.map(\.news)
            var emptied: [Reservoir] = []
            if voice.isPlain {
                guard !voice.feeds[0].isInHand else { return nil }
                voice.feeds[0].isInHand = true
            } else if voice.cursor < consumed || courses.contains(where: { $0 != nil }) {
                // What is kept changes, so that nobody may be filling it.
                guard voice.reservoirs.allSatisfy({ !$0.isInHand }) else { return nil }
                emptied = voice.reservoirs
                for reservoir in emptied {
                    reservoir.isInHand = true
                    reservoir.news = nil
                }
            } else {
                guard voice.reservoirs.allSatisfy(\.isReady) else { return nil }
            }
            voice.isInHand = true
            writing.append(voice)
            let turns = voice.takeNews()
            let until = turnLimit(voice, consumed, target)
            return { [self, emptied] buffer in
                for (reservoir, course) in zip(voice.reservoirs, courses) { course.map(reservoir.follow) }
                voice.follow(turns)
                write(voice, upTo: until, consumed: consumed, isOld ? nil : target, buffer: buffer)
                monitor.locked {
                    for reservoir in emptied { reservoir.isInHand = false }
                    monitor.wakeAll()
                }
            }
        case .read(let reservoir):
            guard reservoir.wantsMore, !reservoir.isInHand, !reservoir.feed.isInHand, reservoir.news == nil
            else { return nil }
            reservoir.isInHand = true
            reservoir.feed.isInHand = true
            return { [self] _ in
                repeat { reservoir.fill() } while !reservoir.isReady
                monitor.locked {
                    reservoir.isInHand = false
                    reservoir.feed.isInHand = false
                    monitor.wakeAll()
                }
            }
        }
    }

    private func turnLimit(_ voice: Voice, _ consumed: Int64, _ target: Target) -> Int64 {
        let limit = limit(voice, consumed)
        guard voice.isPlain else { return limit }
        // Behind a locate every track gets a little before any gets much.
        let isShort = voice.fill(consumed: consumed) < Int64(Self.turnFrames)
        let wanted = !voice.isPrimed ? target.frames : isShort ? PieceBuffer.frames : Self.turnFrames
        return min(limit, max(voice.cursor, consumed) + Int64(wanted))
    }

    private func write(
        _ voice: Voice, upTo limit: Int64, consumed: Int64, _ target: Target?, buffer: PieceBuffer
    ) {
        let wasPrimed = voice.isPrimed
        let began = voice.isPlain ? 0 : rt_thread_cpu_nanoseconds()
        voice.write(upTo: limit, consumed: consumed, buffer: buffer)
        if !voice.isPlain {
            stretchNanoseconds.wrappingAdd(rt_thread_cpu_nanoseconds() - began, ordering: .relaxed)
        }
        let needed = voice.isPlain ? target?.frames ?? 0 : Int(limit - consumed)
        let isPrimed = voice.isDone || voice.cursor >= min(limit, consumed + Int64(needed))
        if let target, voice.isCompared, !wasPrimed, isPrimed, let oldFrame = target.oldFrame {
            voice.noteLikeness(oldFrame: oldFrame, frames: crossoverFrames)
        }
        let callback = monitor.locked {
            voice.isInHand = false
            doPendingTurn()
            writing.removeAll { $0 === voice }
            if voice.isPlain { voice.feeds[0].isInHand = false }
            if isPrimed, let target, self.target?.generation == target.generation { notePrimed(voice) }
            monitor.wakeAll()
            return takePrimedCallback()
        }
        callback?()
    }
    /// Once every voice is primed: what is to be called, one time.
    private func takePrimedCallback() -> (@Sendable () -> Void)? {
        guard unprimed == 0, let callback = whenPrimed else { return nil }
        whenPrimed = nil
        if let target { courtesy = (target.lane, .now + Self.longestCourtesy) }
        return callback
    }

    private func notePrimed(_ voice: Voice) {
        if !voice.isPrimed {
            voice.isPrimed = true
            unprimed -= 1
        }
    }
}
