import EngineHost
import RenderCore
import Synchronization
import TestSupport
import Testing

@Suite("Streaming")
struct StreamingTests {
    private final class Flag: Sendable {
        private let value = Atomic<Bool>(false)
        var isRaised: Bool { value.load(ordering: .acquiring) }
        func raise() { value.store(true, ordering: .releasing) }
    }

    @Test("who waits for a stream to be primed does not wait for ever when streaming stops")
    func stopWhilePriming() throws {
        let host = RenderHost(HostConfiguration(sampleRate: 48_000, trackCapacity: 1))
        let source = SignalSource(frames: 48_000) { _, _ in 1 }
        _ = try host.addTrack(TrackStream(clips: [Clip(source: source)]), left: 1, right: 1)
        let isCalled = Flag()
        // No thread runs that could prime it.
        _ = host.prime(StreamMap(start: 0)) { isCalled.raise() }
        host.streaming.stop()
        #expect(isCalled.isRaised)
    }

    @Test("a track in a place that another left plays nothing of what that one had")
    func reusedPlace() throws {
        let host = RenderHost(HostConfiguration(sampleRate: 48_000, trackCapacity: 1))
        let driver = OfflineDriver(host: host, outputCount: 2)
        let main = try host.addBus(channelCount: 2, left: 1, right: 1)
        func graph(_ tracks: [SlotID]) -> Graph {
            Graph(
                tracks: tracks.map { Graph.TrackNode(slot: $0, bus: main) },
                buses: [Graph.BusNode(slot: main, channelCount: 2, firstOutput: 0)])
        }
        func add(_ level: Float) throws -> SlotID {
            let source = SignalSource(frames: 480_000) { _, _ in level }
            return try host.addTrack(TrackStream(clips: [Clip(source: source)]), left: 1, right: 1)
        }
        let first = try add(1)
        try host.adopt(graph([first]))
        host.streaming.start(threads: 1, priority: nil)
        let stream = driver.primeAndWait(StreamMap(start: 0))
        try host.send([stream.locate, .start])
        host.noteSent(stream)
        driver.render(1_024)
        #expect(unsafe driver.output(0)[1_000] == 1)
        host.streaming.stop()
        try host.adopt(graph([]))
        unsafe render(host, 1_024)
        host.removeTrack(first)
        // No thread runs that could have filled its rings.
        try host.adopt(graph([add(0.5)]))
        let heard = unsafe render(host, 4_096, at: 2_048)
        #expect(heard.allSatisfy { $0 == 0 }, "\(heard.max() ?? 0)")
    }

    @Test("a stream can be left while it has half a ring ahead, or does not sound", .timeLimit(.minutes(1)))
    func canBeLeft() async throws {
        let source = SignalSource(frames: 4_800_000) { _, _ in 1 }
        let rig = try OfflineRig(sources: [source])
        try rig.locate(to: 0)
        rig.render(64)
        #expect(rig.host.canBeLeft)
        try rig.host.send([.start])
        rig.render(64)
        while !rig.host.canBeLeft { try await Task.sleep(for: .milliseconds(1)) }
        rig.host.streaming.stop()
        for block in 0..<5 { unsafe render(rig.host, 8_192, at: Int64(128 + 8_192 * block)) }
        #expect(!rig.host.canBeLeft)
        rig.host.streaming.start(threads: 1, priority: nil)
        while !rig.host.canBeLeft { try await Task.sleep(for: .milliseconds(1)) }
    }

    /// Renders a block without waiting for data, as a server does, and returns the left output.
    @unsafe @discardableResult
    private func render(_ host: RenderHost, _ frames: Int, at frame: Int64 = 1_024) -> [Float] {
        var samples = [Float](repeating: 0, count: 2 * frames)
        unsafe samples.withUnsafeMutableBufferPointer { buffer in
            let base = buffer.baseAddress!
            let outputs = unsafe [base, base + frames]
            unsafe outputs.withUnsafeBufferPointer {
                unsafe Renderer.render(
                    host.state, outputs: $0.baseAddress!, outputCount: 2, frames: frames, at: frame)
            }
        }
        return Array(samples[..<frames])
    }
}
