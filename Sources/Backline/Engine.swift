import EngineHost
import Foundation
import JackClient
import RenderCore
import Session

/// Plays a session through JACK.
///
/// An engine is an actor: its calls return when control has done its part, and none of them waits for the audio
/// thread longer than a locate takes to prime. Life of an engine: open, `play`, …, `close`.
public actor Engine {
    /// How an engine is opened.
    public struct Options: Sendable {
        /// The client's name in the graph.
        public var clientName = "backline"
        /// The server's name; nil for the default one.
        public var server: String?
        /// Ports to connect outputs to, by output (`BUS.CHANNEL`), instead of what the session says for these.
        public var connections: [(output: String, port: String)] = []
        /// Timeline seconds to start at.
        public var from = 0.0
        /// Timeline seconds to stop at.
        public var to: Double?
        /// Seconds to play altogether.
        public var seconds: Double?
        /// A range of the timeline that repeats, in seconds.
        public var loop: Range<Double>?
        /// Whether a stem that cannot be opened, or a port that is not there, is an error.
        public var isStrict = false

        /// From the beginning, to the end, on the default server.
        public init() {}
    }

    /// What happens, in order. For one reader; it ends with `close`.
    public nonisolated let events: AsyncStream<EngineEvent>
    /// Frames a second.
    public nonisolated let sampleRate: Int
    /// Stems that cannot be heard.
    public nonisolated let problems: [StemProblem]
    /// What a person should know about how the engine runs here.
    public nonisolated let notices: [String]

    let stage: Stage
    let client: JackClient
    let continuation: AsyncStream<EngineEvent>.Continuation
    var ticker: Task<Void, Never>?
    var listener: Task<Void, Never>?

    var sums = MeterSums()
    var recent = MeterSums()
    var underruns = 0
    var xrunsTold = 0
    var lateProblems: [StemProblem] = []

    private let stopPosition: Int64?
    private let playFrames: Int64?
    var framesBefore: Int64 = 0
    var hasEnded = false
    var isClosed = false
    private var request: Request?
    var isLocating = false
    var stretchWatch = StretchWatch()
    /// When rates were last changed.
    var ratesChanged = ContinuousClock.now
    /// Where the last locate went to, in frames.
    var locatePosition: Int64 = 0
    /// Where locates go that have not been told yet, by the generation of their streams.
    var locatesUnderWay: [UInt32: Int64] = [:]
    /// Streams that only take another up at other rates: nobody asked for a locate.
    var quietStreams: Set<UInt32> = []

    /// A place to go to.
    private struct Request {
        /// The timeline position; nil means where it is, which is for a change of the loop range or of rates.
        var position: Int64?
        var loop: Range<Int64>?
        /// Whether it is for rates alone, and keeps the loop range too.
        var isQuiet = false
    }

    /// Opens an engine for `document` on a server that runs, with its files open, its ports connected and the first
    /// moments primed; it is silent until `play`.
    ///
    /// The calling task is busy for as long as opening the files takes.
    public init(_ document: SessionDocument, options: Options = Options()) async throws(BacklineError) {
        let client: JackClient
        let stage: Stage
        do throws(JackError) {
            client = try JackClient(name: options.clientName, server: options.server)
        } catch {
            throw .jack(error.description)
        }
        stage = try Stage(document, sampleRate: client.sampleRate)
        if options.isStrict && !stage.problems.isEmpty { throw .stems(stage.problems) }
        if let end = stage.end, options.loop == nil, stage.frames(options.from) >= end {
            throw .time(
                "the session ends at \(stage.seconds(end)) s, so there is nothing to play from \(options.from) s "
                    + "on; give an earlier --from")
        }
        for connection in options.connections where !stage.outputNames.contains(connection.output) {
            throw .unknown(kind: "output", name: connection.output, known: stage.outputNames)
        }
        self.client = client
        self.stage = stage
        sampleRate = client.sampleRate
        problems = stage.problems
        (events, continuation) = AsyncStream.makeStream()
        stopPosition = options.to.map(stage.frames)
        playFrames = options.seconds.map(stage.frames)

        let isRealTime = client.isRealTime
        // One processor is left to JACK, if there are enough.
        stage.host.streaming.start(
            threads: max(2, ProcessInfo.processInfo.activeProcessorCount - 1), priority: isRealTime ? 15 : nil
        )
        var notices = Self.machineNotices(isRealTime: isRealTime, isMemoryLocked: stage.host.isMemoryLocked)
        do throws(JackError) {
            try client.registerOutputs(stage.outputNames)
            try unsafe client.activate(
                rendering: stage.host.state, of: stage.host, waiting: Self.freewheelWait(stage.host))
            notices += try Self.connect(client, stage, options)
        } catch {
            client.close()
            throw .jack(error.description)
        }
        self.notices = notices
        await locate(
            Request(
                position: stage.frames(options.from),
                loop: options.loop.map { stage.frames($0.lowerBound)..<stage.frames($0.upperBound) }))
        ticker = Task { [weak self] in
            var ticks = 0
            while !Task.isCancelled {
                guard let self else { return }
                await self.tick()
                // Meters are for eyes: every 20 ms is more often than a display shows them.
                if ticks % 2 == 0 { await self.collectMeters() }
                ticks += 1
                try? await Task.sleep(for: .milliseconds(10))
            }
        }
        let jackEvents = client.events
        listener = Task { [weak self] in
            for await event in jackEvents { await self?.hear(event) }
        }
    }

    private static func machineNotices(isRealTime: Bool, isMemoryLocked: Bool) -> [String] {
        var notices: [String] = []
        if !isRealTime {
            notices.append(
                "the server runs without real-time priority, so sound may break up; see backline doctor")
        }
        if !isMemoryLocked {
            notices.append(
                "the memory lock limit is too low to keep the engine in memory; see backline doctor")
        }
        return notices
    }

    private static func freewheelWait(_ host: RenderHost) -> FreewheelWait {
        unsafe FreewheelWait(
            { frames, context in
                let host = unsafe Unmanaged<RenderHost>.fromOpaque(context!).takeUnretainedValue()
                host.streaming.waitForData(Int(frames) + 2 * host.configuration.fadeFrames)
            }, context: Unmanaged.passUnretained(host).toOpaque())
    }

    // MARK: Transport

    /// Plays from where it stands; at the end, from the beginning.
    ///
    /// Given a JACK frame of its server it starts exactly then, as every program does that is given the same one; a
    /// frame that has passed means now.
    public func play(atJackFrame jackFrame: UInt32? = nil) async throws(BacklineError) {
        // The end may have come since the last look.
        tick()
        if hasEnded { await locate(Request(position: 0, loop: stage.host.currentMap.loop)) }
        hasEnded = false
        stage.host.prepareStart()
        try send(.start, at: jackFrame.map { client.engineFrame(of: JackFrame($0)) } ?? .now)
    }

    /// Fades out and stands still.
    public func pause() throws(BacklineError) {
        try send(.stop)
    }

    /// Fades out, stands still, and goes back to the beginning.
    public func stop() async throws(BacklineError) {
        try pause()
        // The audio thread fades the old place out and stands still at the new one.
        await locate(to: 0)
    }

    /// Goes to a place of the timeline, in seconds, held between 0 and the end; all tracks on the same frame.
    public func locate(to seconds: Double) async {
        let end = stage.end ?? Int64.max / 4
        let position = min(max(0, stage.frames(seconds.isFinite ? seconds : 0)), end)
        await locate(Request(position: position, loop: stage.host.currentMap.loop))
    }

    /// Goes `seconds` on (or back) from where it is.
    public func skip(_ seconds: Double) async {
        // Twice within a moment is twice as far: where it is going counts, not where it still is.
        let place = locatesUnderWay.isEmpty ? status.position : stage.seconds(locatePosition)
        await locate(to: place + seconds)
    }

    /// Repeats a range of the timeline, in seconds; nil plays on. It takes effect without a gap.
    public func setLoop(_ range: Range<Double>?) async {
        let frames = range.map { stage.frames($0.lowerBound)..<stage.frames($0.upperBound) }
        await locate(Request(position: nil, loop: frames))
    }

    /// One request at a time is under way; of those that come meanwhile the newest counts.
    private func locate(_ newest: Request) async {
        request = newest
        await serveRequests()
    }

    private func serveRequests() async {
        if isLocating { return }
        isLocating = true
        while let next = request {
            request = nil
            await perform(next)
        }
        isLocating = false
        // Rates may have been changed while a stream was primed for others.
        if stage.rates != stage.host.rates, !isClosed { turn() }
    }

    /// Has what plays go to the session's rates: as it is, if it can, or in a stream that takes it up.
    func turn() {
        let rates = stage.rates
        if rates == stage.host.rates && !isLocating { return }
        ratesChanged = .now
        if !isLocating, stage.host.transportPosition.isRolling, stage.host.canTurn(to: rates) {
            stage.host.turn(to: rates)
            return
        }
        takeUp()
    }

    /// Has a stream that is primed for the session's rates take up the one that plays.
    func takeUp() {
        // A locate that is waiting is primed for them anyway.
        guard request == nil else { return }
        request = Request(position: nil, isQuiet: true)
        if !isLocating { Task { await serveRequests() } }
    }

    /// How long stretchers take to be ready, as a rule: in frames. Six tracks are, within the time in which a change is to
    /// be heard; more take longer.
    private func lead(to rates: Rates) -> Int {
        let modes = stage.tracks.filter { stage.host.isRated($0, at: rates) }.map { rates[$0].mode }
        let fine = modes.filter { $0 == .fine }.count
        let others = modes.count - fine
        let milliseconds = (fine > 0 ? 100 : 45) + 8 * max(0, fine - 6) + 2 * max(0, others - 6)
        return sampleRate * milliseconds / 1000
    }

    /// How long a locate waits at most for the stream that sounds to get ahead.
    private static let longestFeeding = Duration.milliseconds(250)

    /// How often a stream that goes on is primed at most, each time for a later frame, until it is ready in time.
    private static let mostAttempts = 3

    private func perform(_ request: Request) async {
        let host = stage.host
        if isClosed { return }
        let patience = ContinuousClock.now + Self.longestFeeding
        while !host.canPrime || !host.canBeLeft && ContinuousClock.now < patience {
            if isClosed || client.isServerGone { return }
            try? await Task.sleep(for: .milliseconds(2))
        }
        // It may have been closed in the last of these: nobody would prime the stream any more.
        if isClosed { return }
        let rates = stage.rates
        var frame = EngineFrame.now
        // Where the stream that sounds is left, if that is known beforehand.
        var left: Int64 = 0
        // A loop range may have been asked for before rates were, and have come since.
        let loop = request.isQuiet ? host.currentMap.loop : request.loop
        var map = StreamMap(start: request.position ?? 0, loop: loop)
        var primed: PrimedStream?
        var lead = max(2 * client.period, lead(to: rates))
        for attempt in 1...Self.mostAttempts {
            let now = host.transportPosition
            left = now.streamFrame
            let goesOn = request.position == nil && now.isRolling
            if request.position == nil {
                // What goes on keeps its place: it is taken up where it will be by then.
                if goesOn {
                    frame = EngineFrame(now.engineFrame) + lead
                    left += Int64(lead)
                }
                map = host.mapGoingOn(from: left, loop: loop)
            }
            await withCheckedContinuation { ready in
                primed = host.prime(
                    map, rates: rates,
                    stop: map.loop == nil ? stopPosition.flatMap { $0 > map.start ? $0 : nil } : nil,
                    stopFrames: playFrames.map { max(0, $0 - framesBefore - left) }, at: frame,
                    period: client.period
                ) {
                    ready.resume()
                }
            }
            // Many stretchers take longer: a stream that is taken up too late would be heard twice.
            let taken = Int(host.transportPosition.engineFrame - now.engineFrame)
            if !goesOn || taken < lead || isClosed || attempt == Self.mostAttempts { break }
            lead = 2 * taken
        }
        guard let primed, !isClosed else { return }
        if request.position != nil { left = host.transportPosition.streamFrame }
        // One that only takes another up at its end begins at the end.
        if !request.isQuiet { hasEnded = false }
        guard (try? host.send([primed.locate], at: frame)) != nil else { return }
        host.noteSent(primed)
        framesBefore += left
        if request.isQuiet {
            quietStreams.insert(primed.generation)
        } else {
            locatePosition = map.start
            locatesUnderWay[primed.generation] = map.start
        }
    }

    private func send(_ command: Command, at frame: EngineFrame = .now) throws(BacklineError) {
        do throws(CommandRingFull) {
            try stage.host.send([command], at: frame)
        } catch {
            throw .full("the engine has not taken the last commands yet; try again")
        }
    }

    /// Where it is.
    public var status: EngineStatus {
        let map = stage.host.currentMap
        return EngineStatus(
            position: stage.seconds(stage.host.timelinePosition), duration: stage.end.map(stage.seconds),
            isPlaying: stage.host.transportPosition.isRolling,
            loop: map.loop.map { stage.seconds($0.lowerBound)..<stage.seconds($0.upperBound) },
            rate: stage.session.rate, remaining: stage.host.framesLeft.map(stage.seconds))
    }
}
