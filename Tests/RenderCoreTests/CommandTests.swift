import EngineHost
import RenderCore
import TestSupport
import Testing

@Suite("Commands")
struct CommandTests {
    private func isBitwiseCopyable<Value: BitwiseCopyable>(_: Value.Type) -> Bool { true }

    @Test("a timed command is at most 32 bytes, half a cache line, and nothing but bits")
    func size() {
        #expect(MemoryLayout<TimedCommand>.stride <= 32)
        #expect(isBitwiseCopyable(Command.self))
        #expect(isBitwiseCopyable(TimedCommand.self))
        #expect(isBitwiseCopyable(Notice.self))
    }

    /// A rig with one track that is all ones, rolling.
    private func rig() throws -> OfflineRig {
        let rig = try OfflineRig(sources: [SignalSource(frames: 400_000) { _, _ in 1 }])
        try rig.locate(to: 0)
        try rig.host.send([.start])
        rig.render(100)
        rig.forget()
        return rig
    }

    @Test("commands for later take effect by frame, whatever order they came in")
    func order() throws {
        // Four tracks of 1, 2, 4 and 8 throughout: the sum says which of them are silent.
        let sources = (0..<4).map { track in SignalSource(frames: 400_000) { _, _ in Float(1 << track) } }
        let rig = try OfflineRig(sources: sources)
        try rig.locate(to: 0)
        try rig.host.send([.start])
        for (track, frame) in [(0, 40_000), (1, 10_000), (2, 30_000), (3, 20_000)] {
            try rig.host.send(
                [.trackGain(rig.tracks[track], left: 0, right: 0)], at: EngineFrame(Int64(frame)))
        }
        rig.render(50_000)
        let sums = [10_000, 20_000, 30_000, 40_000, 49_999].map { rig.heard[0][$0] }
        #expect(sums == [15, 13, 5, 1, 0])
        // A fade begins at its frame: its first frame is the last at the old gain.
        #expect(rig.heard[0][10_001] < 15)
    }

    @Test("commands for one frame take effect in the order they were sent")
    func sameFrame() throws {
        let rig = try rig()
        for gain in [Float(0.5), 0.25, 0.75] {
            try rig.host.send([.busGain(rig.main, left: gain, right: gain)], at: EngineFrame(10_000))
        }
        rig.render(20_000 - 100)
        #expect(rig.heard[0][9_999 - 100] == 1)
        #expect(rig.heard[0].last == 0.75)
    }

    @Test("a command does not overtake one for the same frame that is held back")
    func heldBack() throws {
        let rig = try rig()
        let frame = EngineFrame(48_400)
        // More than a second ahead; the next, behind one block, is not.
        try rig.host.send([.busGain(rig.main, left: 0.25, right: 0.25)], at: frame)
        rig.render(512)
        try rig.host.send([.busGain(rig.main, left: 0.75, right: 0.75)], at: frame)
        rig.render(60_000)
        #expect(rig.heard[0].last == 0.75)
    }

    @Test("256 commands wait for their frame; the next is refused and told, and the others are not lost")
    func capacity() throws {
        let rig = try rig()
        let batch = (0...256).map { Command.busGain(rig.main, left: Float($0) / 256, right: Float($0) / 256) }
        try rig.host.send(batch, at: EngineFrame(20_000))
        rig.render(40_000)
        let refused = rig.notices.count { if case .refused = $0 { true } else { false } }
        #expect(refused == 1)
        #expect(rig.heard[0].last == 255.0 / 256)
    }

    @Test("a command for a frame that has passed takes effect at once, and is told to be late")
    func late() throws {
        let rig = try rig()
        try rig.host.send([.busGain(rig.main, left: 0.5, right: 0.5)], at: EngineFrame(60))
        rig.render(5_000)
        #expect(rig.heard[0].last == 0.5)
        let delays = rig.notices.compactMap { if case .late(let frames, _) = $0 { frames } else { nil } }
        #expect(delays == [40])
    }

    @Test("a block takes 256 commands, and a batch goes on beyond", arguments: [true, false])
    func batch(isBatch: Bool) throws {
        let rig = try rig()
        let unchanged = Command.trackGain(rig.tracks[0], left: 1, right: 1)
        let commands = Array(repeating: unchanged, count: 300) + [.busGain(rig.main, left: 0.5, right: 0.5)]
        if isBatch {
            try rig.host.send(commands)
        } else {
            for command in commands { try rig.host.send([command]) }
        }
        rig.render(4_000, block: 500)
        // A fade takes 1,440 frames; without a batch it begins one block later.
        let arrival = rig.heard[0].firstIndex(of: 0.5)
        let expected = isBatch ? 1_440 : 1_940
        // The raised cosine is so flat at its end that a float reaches the target a little earlier.
        #expect(
            arrival.map { (expected - 5...expected).contains($0) } == true, "\(String(describing: arrival))")
    }

    @Test("40 stems, more than the mixer looks ahead, sum to the bit")
    func manyTracks() throws {
        let sources = (0..<40).map { SignalSource.noise(seed: UInt64($0), peak: 0.02, frames: 6_000) }
        let rig = try OfflineRig(sources: sources)
        try rig.locate(to: 0)
        try rig.host.send([.start])
        rig.render(6_000, block: 64)
        for channel in 0..<2 {
            var expected = [Float](repeating: 0, count: 6_000)
            for source in sources {
                for (i, x) in try samples(source, channel: channel, frames: 6_000).enumerated() {
                    expected[i] += x
                }
            }
            expectIdentical(rig.heard[channel], expected, "channel \(channel)")
        }
    }

    @Test("a track that comes back to the plan plays what is heard by then, and fades in")
    func comesBack() throws {
        let sources = (0..<2).map { track in SignalSource(frames: 400_000) { _, _ in Float(1 << track) } }
        let rig = try OfflineRig(sources: sources)
        try rig.locate(to: 50_000)
        try rig.host.send([.start])
        rig.render(10_000)
        try rig.host.adopt(rig.graph(of: [rig.tracks[1]]))
        rig.render(10_000)
        try rig.locate(to: 200_000)
        rig.render(10_000)
        rig.forget()
        try rig.host.adopt(rig.graph(of: rig.tracks))
        rig.render(10_000)
        #expect(rig.heard[0].first == 2)
        #expect(rig.heard[0].last == 3)
        let steps = zip(rig.heard[0].dropFirst(), rig.heard[0]).map { $0 - $1 }
        #expect(steps.allSatisfy { $0 >= 0 && $0 < 0.01 })
    }

    @Test("what every block needs of a track is one cache line")
    func playerSize() {
        #expect(MemoryLayout<Player>.stride == 64)
    }
}
