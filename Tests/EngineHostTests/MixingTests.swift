import EngineHost
import RenderCore
import TestSupport
import Testing

@Suite("Mixing")
struct MixingTests {
    @Test("stems at unity come out as their exact float sum")
    func exactSum() throws {
        let sources = (0..<5).map { SignalSource.noise(seed: UInt64($0), frames: 30_000) }
        let rig = try OfflineRig(sources: sources)
        try rig.locate(to: 0)
        try rig.host.send([.start])
        rig.render(20_000, block: 64)
        for channel in 0..<2 {
            var expected = [Float](repeating: 0, count: 20_000)
            for source in sources {
                for (i, x) in try samples(source, channel: channel, frames: 20_000).enumerated() {
                    expected[i] += x
                }
            }
            expectIdentical(rig.heard[channel], expected, "channel \(channel)")
        }
    }

    @Test("a mono track reaches both sides, by its two gains")
    func monoTrack() throws {
        let source = SignalSource.noise(seed: 7, channels: 1, frames: 10_000)
        let rig = try OfflineRig(sources: [source], gains: [(left: 0.25, right: 0.5)])
        try rig.locate(to: 0)
        try rig.host.send([.start])
        rig.render(8_000, block: 100)
        let mono = try samples(source, frames: 8_000)
        expectIdentical(rig.heard[0], mono.map { $0 * 0.25 }, "left")
        expectIdentical(rig.heard[1], mono.map { $0 * 0.5 }, "right")
    }

    @Test("the end of the last sound ends the session on its frame, and nothing sounds behind it")
    func end() throws {
        let source = SignalSource.ramp(frames: 5_001)
        let rig = try OfflineRig(sources: [source])
        try rig.locate(to: 0)
        try rig.host.send([.start], at: EngineFrame(7))
        rig.render(8_000, block: 64)
        let silence = [Float](repeating: 0, count: 7)
        let tail = [Float](repeating: 0, count: 8_000 - 5_008)
        expectIdentical(rig.heard[0], silence + (try samples(source, frames: 5_001)) + tail)
        let ends = rig.notices.compactMap { notice in
            if case .ended(let frame) = notice { frame.value } else { nil }
        }
        #expect(ends == [5_008])
    }
}
