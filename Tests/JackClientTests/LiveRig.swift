import Foundation
import EngineHost
import JackClient
import RenderCore
import TestSupport
import Testing

/// The real render core with one track on one bus, ready to be driven by a client.
final class LiveRig {
    let host: RenderHost

    /// A host whose bus has `channels` outputs and plays `source` from its beginning, once it is started.
    init(_ source: any FrameSource = SignalSource.ramp(frames: 1), channels: Int = 2) throws {
        host = RenderHost(HostConfiguration(sampleRate: 48_000, trackCapacity: 8))
        let main = try host.addBus(channelCount: channels, left: 1, right: 1)
        let track = try host.addTrack(TrackStream(clips: [Clip(source: source)]), left: 1, right: 1)
        try host.adopt(
            Graph(
                tracks: [Graph.TrackNode(slot: track, bus: main)],
                buses: [Graph.BusNode(slot: main, channelCount: channels, firstOutput: 0)]))
        host.streaming.start(threads: 1, priority: nil)
        let driver = OfflineDriver(host: host, outputCount: channels)
        let stream = driver.primeAndWait(StreamMap(start: 0))
        try host.send([stream.locate])
        host.noteSent(stream)
    }
}

/// The first event that `wanted` accepts; nil where the events end or 20 s pass before.
func firstEvent(of events: AsyncStream<JackEvent>, where wanted: @escaping @Sendable (JackEvent) -> Bool)
    async -> JackEvent?
{
    await withTaskGroup(of: JackEvent?.self) { group in
        group.addTask {
            for await event in events where wanted(event) { return event }
            return nil
        }
        group.addTask {
            try? await Task.sleep(for: .seconds(20))
            return nil
        }
        defer { group.cancelAll() }
        return await group.next() ?? nil
    }
}
