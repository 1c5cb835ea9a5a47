import AudioFiles
import EngineHost
import RenderCore
import Session

/// A session set up for rendering: its tracks and buses in a host, their names, and the graph between them.
///
/// Used by one isolation domain at a time.
final class Stage {
    private(set) var document: SessionDocument
    let host: RenderHost
    let problems: [StemProblem]
    /// Slots by position in the session.
    let tracks: [SlotID]
    let buses: [SlotID]
    let trackChannels: [Int]
    /// One name for each of the driver's outputs, in order: `BUS.CHANNEL`.
    let outputNames: [String]
    /// What each track and bus was last told.
    private var trackGains: [SideGains]
    private var busGains: [SideGains]

    var session: Session { document.session }

    /// Opens the files of `document` for a driver of `sampleRate` frames a second.
    ///
    /// `outputBus` names the one bus whose channels are the driver's outputs; without it all buses have outputs.
    init(_ document: SessionDocument, sampleRate: Int, outputBus: String? = nil) throws(BacklineError) {
        let session = document.session
        guard !session.tracks.isEmpty else { throw .nothing(file: document.file ?? "the session") }
        self.document = document
        let configuration = HostConfiguration(
            sampleRate: sampleRate, trackCapacity: session.tracks.count, busCapacity: session.buses.count)
        // Before any file is opened.
        guard session.tracks.count <= configuration.trackCapacity else {
            throw .full(Self.explain(.tracks(capacity: configuration.trackCapacity)))
        }
        guard session.buses.count <= configuration.busCapacity else {
            throw .full(Self.explain(.buses(capacity: configuration.busCapacity)))
        }
        host = RenderHost(configuration)
        let loaded = StemLoader.load(document, sampleRate: sampleRate, headFrames: configuration.headFrames)
        problems = loaded.problems
        // With nothing left to play, going on would be silence instead of an error.
        guard loaded.haveSound || problems.isEmpty else { throw .stems(problems) }
        trackChannels = loaded.streams.map(\.channelCount)

        trackGains = Self.trackGains(session, trackChannels)
        busGains = Self.busGains(session)
        var busSlots: [SlotID] = []
        var trackSlots: [SlotID] = []
        do throws(HostFull) {
            try host.reserve(channels: trackChannels.reduce(0, +))
            for (bus, gains) in zip(session.buses, busGains) {
                busSlots.append(
                    try host.addBus(channelCount: bus.channels, left: gains.left, right: gains.right))
            }
            for (i, stream) in loaded.streams.enumerated() {
                trackSlots.append(
                    try host.addTrack(
                        stream, left: trackGains[i].left, right: trackGains[i].right,
                        rate: session.tracks[i].ownRate))
            }
        } catch {
            throw .full(Self.explain(error))
        }
        buses = busSlots
        tracks = trackSlots
        host.rates.session = session.rate
        do {
            try host.check(host.rates)
        } catch {
            throw .full("\(error)")
        }

        var names: [String] = []
        var firstOutputs: [Int?] = []
        for bus in session.buses {
            let hasOutputs = outputBus == nil || outputBus == bus.id
            firstOutputs.append(hasOutputs ? names.count : nil)
            if hasOutputs { names += (1...bus.channels).map { "\(bus.id).\($0)" } }
        }
        outputNames = names
        if let outputBus, names.isEmpty {
            throw .unknown(kind: "bus", name: outputBus, known: session.buses.map(\.id))
        }
        let graph = Self.graph(session, tracks: trackSlots, buses: busSlots, firstOutputs: firstOutputs)
        guard !graph.hasCycle else {
            throw .faults("the session's buses feed each other in a circle; let one of them feed no other")
        }
        do throws(HostFull) {
            try host.adopt(graph)
        } catch {
            throw .full(Self.explain(error))
        }
    }

    private static func graph(
        _ session: Session, tracks: [SlotID], buses: [SlotID], firstOutputs: [Int?]
    ) -> Graph {
        let places = Dictionary(
            zip(session.buses.map(\.id), buses), uniquingKeysWith: { first, _ in first })
        return Graph(
            tracks: zip(session.tracks, tracks).compactMap { track, slot in
                places[track.output].map { Graph.TrackNode(slot: slot, bus: $0) }
            },
            buses: session.buses.indices.map { i in
                Graph.BusNode(
                    slot: buses[i], channelCount: session.buses[i].channels,
                    destination: session.buses[i].output.flatMap { places[$0] }, firstOutput: firstOutputs[i])
            })
    }

    private static func explain(_ error: HostFull) -> String {
        switch error {
        case .tracks(let capacity): "a session has at most \(capacity) tracks; merge some into one file"
        case .buses(let capacity): "a session has at most \(capacity) buses; leave some out"
        case .meters: "the session has too many channels; use fewer multichannel files or buses"
        case .plans: "the engine is busy; try again"
        }
    }

    // MARK: Changes

    /// Changes the session by `change`, and sends what that changes in the sound, as one, for `frame`. A single
    /// change for now is a fader moved by hand, which never fills a queue.
    func edit(at frame: EngineFrame = .now, _ change: (inout Session) -> Void) throws(BacklineError) {
        change(&document.session)
        let newTracks = Self.trackGains(session, trackChannels)
        let newBuses = Self.busGains(session)
        var batch: [Command] = []
        defer {
            trackGains = newTracks
            busGains = newBuses
        }
        for i in newTracks.indices where newTracks[i] != trackGains[i] {
            batch.append(.trackGain(tracks[i], left: newTracks[i].left, right: newTracks[i].right))
        }
        for i in newBuses.indices where newBuses[i] != busGains[i] {
            batch.append(.busGain(buses[i], left: newBuses[i].left, right: newBuses[i].right))
        }
        if frame.isNow && batch.count == 1 { return moveFader(batch[0]) }
        do throws(CommandRingFull) {
            try host.send(batch, at: frame)
        } catch {
            throw .full("the engine has not taken the last changes yet; try again")
        }
    }

    /// The rates of the session.
    var rates: Rates { rates(of: session) }

    /// The rates of a session with the same tracks.
    func rates(of session: Session) -> Rates {
        Rates(
            session: session.rate,
            tracks: Dictionary(
                uniqueKeysWithValues: zip(tracks, session.tracks.map(\.ownRate)).filter {
                    $0.1 != TrackRate()
                }))
    }

    private func moveFader(_ change: Command) {
        switch change {
        case .trackGain(let slot, let left, let right): host.moveFader(of: slot, left: left, right: right)
        case .busGain(let slot, let left, let right): host.moveFader(ofBus: slot, left: left, right: right)
        default: break
        }
    }

    private static func trackGains(_ session: Session, _ channels: [Int]) -> [SideGains] {
        let busChannels = Dictionary(
            session.buses.map { ($0.id, $0.channels) }, uniquingKeysWith: { first, _ in first })
        let audible = Balance.audibleTracks(of: session)
        return session.tracks.indices.map { i in
            let track = session.tracks[i]
            guard audible[i] else { return .silence }
            return Balance.trackGains(
                gain: track.gain, pan: track.pan, inverts: track.invert, trackChannels: channels[i],
                busChannels: busChannels[track.output] ?? 2)
        }
    }

    private static func busGains(_ session: Session) -> [SideGains] {
        session.buses.map { bus in
            bus.mute ? .silence : Balance.busGains(gain: bus.gain, pan: bus.pan, channels: bus.channels)
        }
    }

    // MARK: Time

    /// A time of the timeline in frames, rounded half to even.
    func frames(_ seconds: Double) -> Int64 {
        TimeValue.seconds(seconds).frames(at: host.configuration.sampleRate)
    }

    /// Frames in seconds.
    func seconds(_ frames: Int64) -> Double {
        Double(frames) / Double(host.configuration.sampleRate)
    }

    /// Where the last sound ends, in frames; nil when a track plays for ever.
    var end: Int64? { host.sessionEnd }
}

extension Track {
    /// The track's own rate, as the engine takes it.
    fileprivate var ownRate: TrackRate {
        let mode: TrackRate.Mode =
            switch rateMode {
            case .fine: .fine
            case .fast: .fast
            case .tape: .tape
            }
        return TrackRate(rate: rate, mode: mode, semitones: pitch)
    }
}
