import RealtimePrimitives
import RenderCore
import Synchronization

/// A stream that is primed and can be gone to.
public struct PrimedStream: Sendable {
    /// What tells it from all others.
    public let generation: UInt32
    /// Where it lies on the timeline.
    public let map: StreamMap
    let lane: Int

    /// The command that crosses over to it.
    public var locate: Command { .locate(lane: UInt8(lane), generation: generation) }
}

extension RenderHost {
    /// Whether the lane for the next stream is free; it is not while a crossover is under way, or while a stream
    /// that is primed has not been gone to yet.
    public var canPrime: Bool {
        let next = 1 - lane
        return unsafe lanes[next].released.load(ordering: .acquiring) == laneGenerations[next]
    }

    /// Whether the stream that sounds has enough ahead to go on while another is primed, for which it is fed no more:
    /// a quarter of a second. One that was gone to a moment ago has not.
    public var canBeLeft: Bool {
        !transportPosition.isRolling || streaming.hasData(configuration.sampleRate / 4)
    }

    /// Primes the stream of `map` for all tracks, and calls `whenReady` on a streaming thread once each track has
    /// enough to be gone to. `canPrime` must be true, or the last primed stream not sent yet: it is replaced.
    ///
    /// The transport will stop by itself, with a fade, at the timeline position `stop`, if that is given, and
    /// without one where the last sound of all tracks ends. `frame` is when the stream will be gone to, if that is
    /// known: what sounds then is compared with it, to choose the law of the crossover. `period` is the longest block that
    /// is to be expected.
    public func prime(
        _ map: StreamMap, stop: Int64? = nil, at frame: EngineFrame = .now,
        period: Int = RenderState.maximumBlock,
        whenReady: @escaping @Sendable () -> Void
    ) -> PrimedStream {
        generation &+= 1
        let next = 1 - lane
        maps[generation] = map
        let end = map.loop == nil ? streaming.sessionEnd.map { max(0, $0 - map.start) } : nil
        unsafe lanes[next].sessionEnd.store(end ?? .max, ordering: .releasing)
        unsafe lanes[next].stopFrame.store(stop.map { max(0, $0 - map.start) } ?? .max, ordering: .releasing)
        unsafe lanes[next].notedFrame.store(0, ordering: .releasing)
        let now = transportPosition
        let ahead = frame.isNow ? 0 : max(0, frame.value - now.engineFrame)
        streaming.prime(
            map, lane: next, generation: generation, oldFrame: now.isRolling ? now.streamFrame + ahead : nil,
            frames: Self.primeFrames(period: period, fadeFrames: configuration.fadeFrames),
            whenPrimed: whenReady)
        return PrimedStream(generation: generation, map: map, lane: next)
    }

    /// Notes that the command of `stream` has been sent: its lane is the one that is heard from now on.
    public func noteSent(_ stream: PrimedStream) {
        lane = stream.lane
        laneGenerations[lane] = stream.generation
        let old = laneGenerations[1 - lane]
        maps = maps.filter { $0.key == stream.generation || $0.key == old }
    }

    /// Tells all tracks whether a start where the transport stands still must fade in. Before every start.
    public func prepareStart() {
        let now = transportPosition
        guard !now.isRolling, let map = maps[now.generation], now.generation == laneGenerations[lane] else {
            return
        }
        streaming.noteStart(at: map.position(of: now.streamFrame), lane: lane)
        unsafe lanes[lane].notedFrame.store(now.streamFrame, ordering: .releasing)
    }

    /// Where the transport was after the last block.
    public var transportPosition: TransportPosition { position.read() }

    /// The timeline position of the next frame, in frames.
    public var timelinePosition: Int64 {
        let now = transportPosition
        return maps[now.generation]?.position(of: now.streamFrame) ?? 0
    }

    /// The stream that the transport is on.
    public var currentMap: StreamMap {
        maps[transportPosition.generation] ?? StreamMap(start: 0)
    }
}
