import EngineHost
import RenderCore

/// Tracks on a stereo bus, rendered offline: most tests need no more.
public final class OfflineRig {
    /// The engine.
    public let host: RenderHost
    /// What drives it.
    public let driver: OfflineDriver
    /// The tracks, in the order of their streams.
    public private(set) var tracks: [SlotID] = []
    /// The bus that all of them play into.
    public let main: SlotID
    /// What has come out, one array a channel.
    public private(set) var heard: [[Float]]
    /// What the audio thread has told.
    public private(set) var notices: [Notice] = []
    private let channels: Int

    /// A rig that plays `streams` at the given gains (unity where none is given), from `position` on.
    public init(
        _ streams: [TrackStream], gains: [(left: Float, right: Float)] = [], channels: Int = 2,
        sampleRate: Int = 48_000, streamingThreads: Int = 2, session: Double = 1, rates: [TrackRate] = []
    ) throws {
        self.channels = channels
        host = RenderHost(
            HostConfiguration(sampleRate: sampleRate, trackCapacity: max(8, streams.count + 4)))
        driver = OfflineDriver(host: host, outputCount: channels)
        heard = Array(repeating: [], count: channels)
        main = try host.addBus(channelCount: channels, left: 1, right: 1)
        for (i, stream) in streams.enumerated() {
            let gain = i < gains.count ? gains[i] : (left: 1, right: 1)
            let rate = i < rates.count ? rates[i] : TrackRate()
            tracks.append(try host.addTrack(stream, left: gain.left, right: gain.right, rate: rate))
        }
        host.rates.session = session
        try host.adopt(graph(of: tracks))
        host.streaming.start(threads: streamingThreads, priority: nil)
    }

    /// A rig that plays each source from its beginning, at the timeline's.
    public convenience init(sources: [any FrameSource], gains: [(left: Float, right: Float)] = []) throws {
        try self.init(sources.map { TrackStream(clips: [Clip(source: $0)]) }, gains: gains)
    }

    /// A graph of these tracks on the main bus.
    public func graph(of tracks: [SlotID]) -> Graph {
        Graph(
            tracks: tracks.map { Graph.TrackNode(slot: $0, bus: main) },
            buses: [Graph.BusNode(slot: main, channelCount: channels, firstOutput: 0)])
    }

    /// Goes to a place of the timeline at `frame`.
    public func locate(
        to position: Int64, loop: Range<Int64>? = nil, stop: Int64? = nil, at frame: EngineFrame = .now
    )
        throws
    {
        let stream = driver.primeAndWait(StreamMap(start: position, loop: loop), stop: stop, at: frame)
        try host.send([stream.locate], at: frame)
        host.noteSent(stream)
    }

    /// Goes to other rates: as the stream is where it can, or by one that takes it up in `lead` frames, and returns the
    /// frame of the stream from which on it does.
    @discardableResult
    public func go(to rates: Rates, lead: Int = 2_400) throws -> Int64 {
        host.canTurn(to: rates) ? host.turn(to: rates) : try takeUp(at: rates, lead: lead)
    }

    /// Has a stream that is primed for `rates` take the current one up in `lead` frames.
    @discardableResult
    public func takeUp(at rates: Rates, lead: Int = 2_400) throws -> Int64 {
        let now = host.transportPosition
        let frame = EngineFrame(driver.engineFrame) + lead
        let map = host.mapGoingOn(from: now.streamFrame + Int64(lead), loop: host.currentMap.loop)
        let stream = driver.primeAndWait(map, rates: rates, at: frame)
        try host.send([stream.locate], at: frame)
        host.noteSent(stream)
        return 0
    }

    /// Renders `frames` frames in blocks of `block`, and keeps what comes out.
    public func render(_ frames: Int, block: Int = 512) {
        render(frames) { block }
    }

    /// Renders `frames` frames in blocks of sizes that `nextBlock` gives.
    public func render(_ frames: Int, nextBlock: () -> Int) {
        var left = frames
        while left > 0 {
            let count = min(left, nextBlock())
            driver.render(count)
            for c in 0..<channels {
                unsafe heard[c].append(contentsOf: UnsafeBufferPointer(start: driver.output(c), count: count))
            }
            notices += host.takeNotices()
            left -= count
        }
    }

    /// Forgets what has come out.
    public func forget() {
        heard = Array(repeating: [], count: channels)
    }
}

/// The first `frames` samples of a channel of a source.
public func samples(_ source: any FrameSource, channel: Int = 0, from first: Int64 = 0, frames: Int) throws
    -> [Float]
{
    var buffer = [Float](repeating: 0, count: frames * source.channelCount)
    _ = try unsafe buffer.withUnsafeMutableBufferPointer {
        unsafe try source.read(from: first, into: $0.baseAddress!, count: frames)
    }
    return stride(from: channel, to: buffer.count, by: source.channelCount).map { buffer[$0] }
}
