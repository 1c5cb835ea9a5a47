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

    private let stage: Stage
    private let client: JackClient
    private let continuation: AsyncStream<EngineEvent>.Continuation
    private var ticker: Task<Void, Never>?
    private var listener: Task<Void, Never>?

    private var sums = MeterSums()
    private var recent = MeterSums()
    private var underruns = 0
    private var xrunsTold = 0
    private var lateProblems: [StemProblem] = []

    private let stopPosition: Int64?
    private let playFrames: Int64?
    private var framesBefore: Int64 = 0
    private var pauseAsked = false
    private var hasEnded = false
    private var isClosed = false
    private var request: Request?
    private var isLocating = false

    /// A place to go to.
    private struct Request {
        /// The timeline position; nil means where it is, which is for a change of the loop range.
        var position: Int64?
        var loop: Range<Int64>?
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
        stage.host.streaming.start(threads: 2, priority: isRealTime ? 15 : nil)
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
            while !Task.isCancelled {
                guard let self else { return }
                await self.tick()
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
    public func play() async throws(BacklineError) {
        // The end may have come since the last look.
        tick()
        if hasEnded { await locate(Request(position: 0, loop: stage.host.currentMap.loop)) }
        hasEnded = false
        pauseAsked = false
        stage.host.prepareStart()
        try send(.start)
    }

    /// Fades out and stands still.
    public func pause() throws(BacklineError) {
        pauseAsked = true
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
        await locate(to: status.position + seconds)
    }

    /// Repeats a range of the timeline, in seconds; nil plays on. It takes effect without a gap.
    public func setLoop(_ range: Range<Double>?) async {
        let frames = range.map { stage.frames($0.lowerBound)..<stage.frames($0.upperBound) }
        await locate(Request(position: nil, loop: frames))
    }

    /// One request at a time is under way; of those that come meanwhile the newest counts.
    private func locate(_ newest: Request) async {
        request = newest
        if isLocating { return }
        isLocating = true
        while let next = request {
            request = nil
            await perform(next)
        }
        isLocating = false
    }

    private func perform(_ request: Request) async {
        let host = stage.host
        while !host.canPrime {
            if isClosed || client.isServerGone { return }
            try? await Task.sleep(for: .milliseconds(2))
        }
        let now = host.transportPosition
        var frame = EngineFrame.now
        var position = request.position ?? host.timelinePosition
        if request.position == nil && now.isRolling {
            // A loop range that changes keeps the place: it is gone to where the playhead will be by then.
            let lead = max(2 * client.period, sampleRate / 20)
            frame = EngineFrame(now.engineFrame) + lead
            position = host.currentMap.position(of: now.streamFrame + Int64(lead))
        }
        let map = StreamMap(start: position, loop: request.loop)
        var primed: PrimedStream?
        await withCheckedContinuation { ready in
            primed = host.prime(map, stop: stop(for: map), at: frame) { ready.resume() }
        }
        guard let primed, !isClosed else { return }
        framesBefore += host.transportPosition.streamFrame
        hasEnded = false
        guard (try? host.send([primed.locate], at: frame)) != nil else { return }
        host.noteSent(primed)
    }

    /// The timeline position at which a stream stops by itself.
    private func stop(for map: StreamMap) -> Int64? {
        let byFrames = playFrames.map {
            map.start + max(0, $0 - framesBefore - stage.host.transportPosition.streamFrame)
        }
        let byPosition = map.loop == nil ? stopPosition.flatMap { $0 > map.start ? $0 : nil } : nil
        switch (byFrames, byPosition) {
        case (let a?, let b?): return min(a, b)
        default: return byFrames ?? byPosition
        }
    }

    private func send(_ command: Command) throws(BacklineError) {
        do throws(CommandRingFull) {
            try stage.host.send([command])
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
            loop: map.loop.map { stage.seconds($0.lowerBound)..<stage.seconds($0.upperBound) })
    }

    // MARK: The mixer

    /// The session as it sounds now.
    public var session: Session { stage.session }

    /// Changes the session while it plays: volume, pan, mute, solo and invert of tracks and buses are heard,
    /// smoothed; other changes are not made.
    public func edit(_ change: @Sendable (inout Session) -> Void) throws(BacklineError) {
        var changed = stage.session
        change(&changed)
        let now = stage.session
        guard changed.tracks.map(\.id) == now.tracks.map(\.id), changed.buses.map(\.id) == now.buses.map(\.id)
        else { throw .full("tracks and buses cannot be added or renamed while the session plays") }
        try stage.edit { session in
            for i in session.tracks.indices {
                session.tracks[i].gain = changed.tracks[i].gain
                session.tracks[i].pan = changed.tracks[i].pan
                session.tracks[i].mute = changed.tracks[i].mute
                session.tracks[i].solo = changed.tracks[i].solo
                session.tracks[i].invert = changed.tracks[i].invert
            }
            for i in session.buses.indices {
                session.buses[i].gain = changed.buses[i].gain
                session.buses[i].pan = changed.buses[i].pan
                session.buses[i].mute = changed.buses[i].mute
                session.buses[i].solo = changed.buses[i].solo
            }
        }
    }

    /// The levels since the last call.
    public func recentLevels() -> LevelReport {
        defer { recent = MeterSums() }
        return stage.report(recent.tracks, buses: recent.buses)
    }

    // MARK: What happens

    private func tick() {
        if let reading = stage.host.collectMeters() {
            sums.add(reading)
            recent.add(reading)
        }
        stage.host.freeRetiredPlans()
        for notice in stage.host.takeNotices() { hear(notice) }
        for problem in stage.failures() {
            lateProblems.append(problem)
            continuation.yield(.stemFailed(problem))
        }
        let xruns = client.xruns
        if xruns > xrunsTold {
            xrunsTold = xruns
            continuation.yield(.xrun(count: xruns))
        }
    }

    private func hear(_ notice: Notice) {
        switch notice {
        case .started: continuation.yield(.started(position: status.position))
        case .stopped:
            if pauseAsked {
                continuation.yield(.paused(position: status.position))
            } else {
                continuation.yield(.ended(position: status.position))
            }
            pauseAsked = false
        case .ended:
            hasEnded = true
            continuation.yield(.ended(position: status.position))
        case .located: continuation.yield(.located(position: status.position))
        case .underrun(let slot, _):
            underruns += 1
            if let i = stage.tracks.firstIndex(of: slot) {
                continuation.yield(.underrun(track: stage.session.tracks[i].id))
            }
        case .lost(let frames, _): continuation.yield(.lost(frames: frames))
        case .late, .refused: break
        }
    }

    private func hear(_ event: JackEvent) {
        switch event {
        case .shutdown(let reason): continuation.yield(.serverGone(reason: reason))
        case .period(let frames): continuation.yield(.period(frames))
        case .sampleRate, .xrun, .freewheel, .portsChanged, .connectionsChanged: break
        }
    }

    /// Leaves the server and reports what was done. Takes 2 s at most.
    public func close() -> RunReport {
        isClosed = true
        ticker?.cancel()
        tick()
        let statistics = client.statistics
        let position = stage.host.transportPosition
        let periodNanoseconds = Double(client.period) / Double(sampleRate) * 1e9
        let report = RunReport(
            frames: framesBefore + position.streamFrame, sampleRate: sampleRate, period: client.period,
            xruns: client.xruns, underruns: underruns, lostFrames: statistics?.lostFrames ?? 0,
            losses: statistics?.jumps ?? 0, callbacks: statistics?.callbacks ?? 0,
            loadMean: (statistics?.cpu.meanNanoseconds ?? 0) / periodNanoseconds,
            loadMaximum: Double(statistics?.cpu.maximumNanoseconds ?? 0) / periodNanoseconds,
            overHalfPeriod: statistics?.cpu.overHalfPeriod ?? 0, lateReadings: statistics?.lateReadings ?? 0,
            reanchorings: statistics?.reanchorings ?? 0,
            lostNotices: Int(stage.host.lostNotices), levels: stage.report(sums.tracks, buses: sums.buses),
            problems: problems + lateProblems)
        client.close()
        stage.host.streaming.stop()
        continuation.finish()
        listener?.cancel()
        return report
    }
}

extension Engine {
    /// Connects the outputs as the options say, and the session for the rest. What the session names and is not
    /// there is a notice, unless that is an error; what an option names must be there.
    private static func connect(
        _ client: JackClient, _ stage: Stage, _ options: Options
    ) throws(JackError) -> [String] {
        var notices: [String] = []
        let named = Set(options.connections.map(\.output))
        for connection in options.connections {
            if let index = stage.outputNames.firstIndex(of: connection.output) {
                try client.connect(client.outputNames[index], to: connection.port)
            }
        }
        let physical = try client.physicalOutputs()
        for bus in stage.session.buses {
            for channel in 0..<bus.channels {
                let output = "\(bus.id).\(channel + 1)"
                guard !named.contains(output), let index = stage.outputNames.firstIndex(of: output) else {
                    continue
                }
                let targets =
                    bus.connectsToPhysicalOutputs
                    ? Array(physical.dropFirst(channel).prefix(1))
                    : channel < bus.connect.count ? bus.connect[channel] : []
                if bus.connectsToPhysicalOutputs && targets.isEmpty {
                    notices.append("the server has no physical output for \(output), so it is not connected")
                }
                for target in targets {
                    do throws(JackError) {
                        try client.connect(client.outputNames[index], to: target)
                    } catch {
                        if options.isStrict { throw error }
                        notices.append(error.description)
                    }
                }
            }
        }
        return notices
    }
}
