import Foundation
import EngineHost
import JackClient
import RenderCore
import TestSupport
import Testing

/// Tests with a server of their own: one after the other, since libjack knows one server a process.
@Suite(.serialized, .timeLimit(.minutes(2))) enum LiveTests {}

/// A private jackd on its dummy driver for one test; ends with the last reference to it.
func startServer(period: Int = 256, synchronous: Bool = true) throws -> JackServer {
    try JackServer(driver: .dummy(outputs: 2), period: period, synchronous: synchronous)
}

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

/// Waits until `condition` holds, and fails the test where it does not within a generous time.
func waitUntil(
    _ what: String, within limit: Duration = .seconds(20), sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: () throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + limit
    while try !condition() {
        try #require(
            ContinuousClock.now < deadline, "never happened: \(what)", sourceLocation: sourceLocation)
        try await Task.sleep(for: .milliseconds(2))
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

/// Runs one of JACK's own tools against a server and returns its exit status.
@discardableResult func runTool(_ arguments: [String], server: String) throws -> Int32 {
    let tool = Process()
    tool.executableURL = URL(filePath: "/usr/bin/env")
    tool.arguments = arguments
    tool.environment = ProcessInfo.processInfo.environment.merging(["JACK_DEFAULT_SERVER": server]) { $1 }
    tool.standardOutput = FileHandle.nullDevice
    tool.standardError = FileHandle.nullDevice
    try tool.run()
    tool.waitUntilExit()
    return tool.terminationStatus
}
