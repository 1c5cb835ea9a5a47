import EngineHost
import Foundation
import RenderCore
import TestSupport
import Testing

@Suite("Fades")
struct FadeTests {
    /// A 50 Hz sine of peak 1, long enough for every test.
    private func rig(from position: Int64 = 0) throws -> OfflineRig {
        let rig = try OfflineRig(sources: [SignalSource.sine(hertz: 50, frames: 480_000)])
        try rig.locate(to: position)
        return rig
    }

    /// No step over 1.05 times the sine's own, and nothing above 2 kHz over −80 dB.
    private func expectClickFree(
        _ heard: [Float], _ what: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let limit = Float(1.05 * 2 * Double.pi * 50 / 48_000)
        let step = largestStep(heard)
        #expect(step <= limit, "\(what): step \(step)", sourceLocation: sourceLocation)
        let high = peakDecibels(highPass(heard, cutoff: 2_000))
        #expect(high < -80, "\(what): \(high) dB above 2 kHz", sourceLocation: sourceLocation)
    }

    @Test("control: the same start without a fade is a click")
    func control() throws {
        let rig = try rig()
        try rig.host.send([.start])
        rig.render(4_000)
        let cut = [Float](repeating: 0, count: 1000) + rig.heard[0][240...]
        #expect(peakDecibels(highPass(cut, cutoff: 2_000)) > -40)
    }

    @Test("a start in the middle, pauses and resumes do not click", arguments: [240, 333, 1_000, 12_345])
    func startAndStop(position: Int64) throws {
        let rig = try rig(from: position)
        rig.render(1_000)
        try rig.host.send([.start])
        rig.render(5_000)
        try rig.host.send([.stop])
        rig.render(3_000)
        rig.host.prepareStart()
        try rig.host.send([.start])
        rig.render(700)
        try rig.host.send([.stop])
        rig.render(500)
        rig.host.prepareStart()
        try rig.host.send([.start])
        rig.render(6_000)
        expectClickFree(rig.heard[0], "from \(position)")
    }

    @Test(
        "a locate in a stop's fade does not click, and stands still at its place", arguments: [1, 700, 1_439])
    func locateWhileStopping(after frames: Int) throws {
        let rig = try rig()
        try rig.host.send([.start])
        rig.render(5_000)
        try rig.host.send([.stop])
        rig.render(frames, block: 64)
        try rig.locate(to: 240)
        rig.render(5_000, block: 64)
        #expect(!rig.host.transportPosition.isRolling)
        #expect(rig.host.timelinePosition == 240)
        expectClickFree(rig.heard[0], "\(frames) frames into the fade")
    }

    @Test("a locate in a stop's fade turns nothing upside down", arguments: [64, 320, 448, 640])
    func locateWhileStoppingAConstant(after frames: Int) throws {
        let rig = try OfflineRig(sources: [SignalSource(channels: 1, frames: 480_000) { _, _ in 1 }])
        try rig.locate(to: 0)
        try rig.host.send([.start])
        rig.render(5_000)
        try rig.host.send([.stop])
        rig.render(frames, block: 64)
        try rig.locate(to: 0)
        rig.render(5_000, block: 64)
        let lowest = try #require(rig.heard[0].min())
        #expect(lowest >= 0, "\(lowest)")
    }

    @Test("a start in a stop's fade, after a locate, plays from its place", arguments: [0, 240])
    func startAfterLocateWhileStopping(place: Int64) throws {
        let rig = try rig()
        try rig.host.send([.start])
        rig.render(5_000)
        try rig.host.send([.stop])
        let stream = rig.driver.primeAndWait(StreamMap(start: place))
        try rig.host.send([stream.locate])
        rig.host.noteSent(stream)
        rig.render(64, block: 64)
        rig.host.prepareStart()
        try rig.host.send([.start])
        rig.render(5_000, block: 64)
        #expect(rig.host.timelinePosition == place + 5_000)
        let high = peakDecibels(highPass(rig.heard[0], cutoff: 2_000))
        // A file's first frame does not fade in, and a sine that begins is a click.
        #expect(high < (place == 0 ? -40 : -80), "to \(place): \(high) dB above 2 kHz")
        let sine = SignalSource.sine(hertz: 50, frames: 480_000)
        let expected = try samples(sine, from: place + 2_936, frames: 2_064)
        expectIdentical(Array(rig.heard[0].suffix(2_064)), expected, "to \(place)")
    }

    @Test(
        "a stop in a locate's crossover fades all that sounds", arguments: [1, 64, 700, 1_439, 1_900])
    func stopWhileLocating(after frames: Int) throws {
        // Noise crosses over at equal power, where a gate that shuts must not be made up for by the other.
        for source in [
            SignalSource.sine(hertz: 50, frames: 480_000), SignalSource.noise(seed: 3, frames: 480_000),
        ] {
            let rig = try OfflineRig(sources: [source])
            try rig.locate(to: 0)
            try rig.host.send([.start])
            rig.render(5_000)
            try rig.locate(to: 96_240)
            rig.render(frames, block: 64)
            try rig.host.send([.stop])
            rig.forget()
            rig.render(4_000, block: 64)
            #expect(rig.heard[0].allSatisfy { $0.isFinite }, "\(frames) frames into the crossover")
            // The fade's last 2 ms.
            let tail = try #require(rig.heard[0][1_344...].map(\.magnitude).max())
            #expect(tail < 0.02, "\(frames) frames into the crossover: still at \(tail)")
            let loudest = try #require(rig.heard[0].map(\.magnitude).max())
            #expect(loudest <= 1.05, "\(frames) frames into the crossover: \(loudest)")
        }
    }

    @Test("a start that was prepared in a stop's fade and comes behind it does not click")
    func startBehindStop() throws {
        let rig = try rig()
        try rig.host.send([.start])
        rig.render(5_000)
        try rig.host.send([.stop])
        rig.render(1_408, block: 64)
        rig.host.prepareStart()
        rig.render(640, block: 64)
        try rig.host.send([.start])
        rig.render(5_000, block: 64)
        expectClickFree(rig.heard[0], "behind the fade")
    }

    @Test("mutes and volume changes between 0 and 1 do not click, 50 of them a second either")
    func gains() throws {
        let rig = try rig()
        try rig.host.send([.start])
        rig.render(5_000)
        var generator = SplitMix(seed: 5)
        for change in 0..<50 {
            let gain = change % 2 == 0 ? Float(0) : Float(1)
            try rig.host.send([.trackGain(rig.tracks[0], left: gain, right: gain)])
            rig.render(960)
        }
        for _ in 0..<100 {
            let gain = Float.random(in: 0...1, using: &generator)
            try rig.host.send([.trackGain(rig.tracks[0], left: gain, right: gain)])
            rig.render(960)
        }
        for _ in 0..<20 {
            rig.host.moveFader(of: rig.tracks[0], left: Float.random(in: 0...1, using: &generator), right: 0)
            rig.render(Int.random(in: 300...2_500, using: &generator))
        }
        expectClickFree(rig.heard[0], "volume")
    }

    @Test("a locate while playing neither clicks nor leaves a silent frame, wherever it goes")
    func locates() throws {
        let rig = try rig()
        try rig.host.send([.start])
        rig.render(2_500)
        var generator = SplitMix(seed: 11)
        for _ in 0..<30 {
            try rig.locate(to: Int64.random(in: 1...400_000, using: &generator))
            rig.render(Int.random(in: 2_000...4_000, using: &generator))
        }
        expectClickFree(rig.heard[0], "locates")
    }

    @Test("unlike material crosses over at equal power")
    func equalPower() throws {
        let rig = try OfflineRig(sources: [SignalSource.noise(seed: 3, frames: 400_000)])
        try rig.locate(to: 0)
        try rig.host.send([.start])
        rig.render(4_800)
        rig.forget()
        try rig.locate(to: 96_000)
        rig.render(1_920, block: 64)
        let middle = rig.heard[0][640..<1_280]
        let power = middle.reduce(0) { $0 + Double($1 * $1) } / Double(middle.count)
        let decibels = 10 * log10(power / (0.25 / 3))
        #expect(abs(decibels) < 0.7, "\(decibels) dB in the middle")
    }

    @Test("like material crosses over at equal gain: the same phase of a tone goes on as if nothing had been")
    func equalGain() throws {
        let rig = try rig()
        try rig.host.send([.start])
        rig.render(4_800)
        rig.forget()
        try rig.locate(to: 96_000)
        rig.render(4_800, block: 64)
        let tone = try samples(SignalSource.sine(hertz: 50, frames: 480_000), frames: 4_800)
        expectNull(rig.heard[0], tone, below: -80)
    }

    @Test("a start at a file's first frame, a loop's seam and the natural end change no bit")
    func exactEdges() throws {
        let source = SignalSource.noise(seed: 4, frames: 7_001)
        let rig = try OfflineRig([TrackStream(clips: [Clip(source: source, plays: 5)])])
        try rig.locate(to: 0)
        try rig.host.send([.start])
        rig.render(40_000, block: 100)
        let once = try samples(source, frames: 7_001)
        let five = Array(repeatElement(once, count: 5).joined())
        expectIdentical(rig.heard[0], five + [Float](repeating: 0, count: 40_000 - five.count))
    }

    @Test("a loop range repeats as concatenation, its count exact")
    func loopRange() throws {
        let source = SignalSource.noise(seed: 6, frames: 50_000)
        let rig = try OfflineRig(sources: [source])
        try rig.locate(to: 0, loop: 3_001..<4_444)
        try rig.host.send([.start])
        rig.render(60_000, block: 333)
        let all = try samples(source, frames: 50_000)
        var expected = Array(all[..<4_444])
        while expected.count < 60_000 { expected += all[3_001..<4_444] }
        expectIdentical(rig.heard[0], Array(expected[..<60_000]))
    }

    @Test("a locate to a file's first frame starts with the file's own bits")
    func locateToStart() throws {
        let source = SignalSource.noise(seed: 8, frames: 50_000)
        let rig = try OfflineRig([TrackStream(clips: [Clip(source: source, start: 9_600)])])
        try rig.locate(to: 0)
        try rig.host.send([.start])
        rig.render(2_000)
        rig.forget()
        try rig.locate(to: 9_600)
        rig.render(10_000)
        expectIdentical(rig.heard[0], try samples(source, frames: 10_000))
    }
}
