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

    @Test("1,000 commands for later, some of them minutes ahead, all take effect on their frames")
    func heldCommands() throws {
        let rig = try OfflineRig(sources: [SignalSource(frames: 200_000) { _, _ in 1 }])
        try rig.locate(to: 0)
        try rig.host.send([.start])
        for i in 1...1_000 {
            let gain: Float = i.isMultiple(of: 2) ? 1 : 0.5
            try rig.host.send(
                [.trackGain(rig.tracks[0], left: gain, right: gain)], at: EngineFrame(Int64(i) * 150))
        }
        rig.render(160_000, block: 777)
        let refusals = rig.notices.filter { notice in
            switch notice {
            case .refused, .late: true
            default: false
            }
        }
        #expect(refusals.isEmpty, "\(refusals.prefix(5))")
        // Every change bends the gain from its own frame on, not one earlier.
        expectIdentical(Array(rig.heard[0][..<151]), [Float](repeating: 1, count: 151))
        #expect(rig.heard[0][152] < 1)
        #expect(rig.heard[0][155_000] == 1)
    }

    @Test("tracks join and leave while the others play on, untouched")
    func joinAndLeave() throws {
        let steady = SignalSource.noise(seed: 1, frames: 300_000)
        let rig = try OfflineRig(sources: [steady])
        try rig.locate(to: 0)
        try rig.host.send([.start])
        rig.render(10_000)
        let guest = try rig.host.addTrack(
            TrackStream(clips: [Clip(source: SignalSource.sine(hertz: 50, frames: 300_000))]), left: 0.5,
            right: 0)
        rig.host.streaming.waitForData(8_192)
        try rig.host.adopt(rig.graph(of: rig.tracks + [guest]))
        rig.render(20_000)
        try rig.host.send([.release(guest)])
        rig.render(2_000)
        try rig.host.adopt(rig.graph(of: rig.tracks))
        rig.render(1_000)
        #expect(rig.host.freeRetiredPlans() == 1)
        rig.host.removeTrack(guest)
        rig.render(5_000)
        // The right side never had the guest.
        expectIdentical(rig.heard[1], try samples(steady, channel: 1, frames: 38_000))
        // The left side had it, faded in and out without a click.
        let own = try samples(steady, frames: 38_000)
        let visitor = zip(rig.heard[0], own).map { $0 - $1 }
        #expect(peakDecibels(visitor) > -7)
        #expect(peakDecibels(highPass(visitor, cutoff: 2_000)) < -80)
    }

    @Test("a command for a later frame takes effect, though it was sent before one for an earlier frame")
    func laterCommandSentFirst() throws {
        let rig = try OfflineRig(sources: [SignalSource(frames: 200_000) { _, _ in 1 }])
        try rig.locate(to: 0)
        try rig.host.send([.start])
        try rig.host.send([.trackGain(rig.tracks[0], left: 0.25, right: 1)], at: EngineFrame(20_000))
        try rig.host.send([.trackGain(rig.tracks[0], left: 0.5, right: 1)], at: EngineFrame(10_000))
        rig.render(30_000)
        #expect(rig.heard[0][15_000] == 0.5)
        #expect(rig.heard[0][29_000] == 0.25)
    }

    @Test("a fader moved after a command was sent overrules it")
    func faderOverrulesCommand() throws {
        let rig = try OfflineRig(sources: [SignalSource(frames: 200_000) { _, _ in 1 }])
        try rig.locate(to: 0)
        try rig.host.send([.start])
        try rig.host.send([.trackGain(rig.tracks[0], left: 0.25, right: 1)], at: EngineFrame(20_000))
        rig.host.moveFader(of: rig.tracks[0], left: 0.75, right: 1)
        rig.render(30_000)
        #expect(rig.heard[0][15_000] == 0.75)
        #expect(rig.heard[0][29_000] == 0.75)
    }
}
