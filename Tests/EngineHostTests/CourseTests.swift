import EngineHost
import RenderCore
import Stretch
import TestSupport
import Testing

/// What a session plays at rates: starts, clips, loops and groups.
@Suite("Rates: where things are on the timeline")
struct CourseTests {
    private static let long: Int64 = 1_500_000

    private func play(
        _ streams: [TrackStream], session: Double = 1, rates: [TrackRate] = [], from: Int64 = 0,
        loop: Range<Int64>? = nil, gains: [(left: Float, right: Float)] = [], frames: Int, block: Int = 512
    ) throws -> OfflineRig {
        let rig = try OfflineRig(streams, gains: gains, session: session, rates: rates)
        try rig.locate(to: from, loop: loop)
        try rig.host.send([.start])
        rig.render(frames, block: block)
        return rig
    }

    /// The frames at which a tape's impulses come out.
    private func impulses(_ heard: [Float]) -> [Int] {
        heard.indices.filter { i in
            heard[i] > 0.2 && heard[i] > heard[max(0, i - 1)]
                && heard[i] >= heard[min(heard.count - 1, i + 1)]
        }
    }

    @Test("The session's rate scales starts, a track's own only its media")
    func starts() throws {
        let clip = { Clip(source: SignalSource.impulse(at: 4_800, frames: 24_000), start: 48_000) }
        let streams = [TrackStream(clips: [clip()])]
        let tape = TrackRate(rate: 2, mode: .tape)
        #expect(
            impulses(try play(streams, rates: [tape], frames: 60_000).heard[0]) == [48_000 + 2_400])
        let session = try play(
            streams, session: 2, rates: [TrackRate(mode: .tape)], frames: 60_000)
        #expect(impulses(session.heard[0]) == [24_000 + 2_400])
        #expect(
            impulses(
                try play(streams, session: 1.25, rates: [TrackRate(rate: 0.5, mode: .tape)], frames: 70_000)
                    .heard[0])
                == [38_400 + 7_680])
    }

    @Test("At a rate of 1 that two others make the bits are the file's")
    func product() throws {
        let source = SignalSource.noise(seed: 4, frames: 30_000)
        let rig = try play(
            [TrackStream(clips: [Clip(source: source)])], session: 2, rates: [TrackRate(rate: 0.5)],
            frames: 30_000)
        expectIdentical(rig.heard[0], try samples(source, frames: 30_000))
    }

    @Test("A clip's loops go round without a seam: the tape of the media put end to end")
    func clipLoops() throws {
        let source = SignalSource.noise(seed: 6, frames: 7_001)
        let unrolled = SignalSource(frames: 4 * 7_001) { frame, channel in
            (try? samples(source, channel: channel, from: frame % 7_001, frames: 1)[0]) ?? 0
        }
        for mode in [TrackRate.Mode.tape, .fine, .fast] {
            let rate = TrackRate(rate: 0.8, mode: mode)
            let looped = try play(
                [TrackStream(clips: [Clip(source: source, plays: 4)])], rates: [rate], frames: 36_000)
            let straight = try play(
                [TrackStream(clips: [Clip(source: unrolled)])], rates: [rate], frames: 36_000)
            expectIdentical(looped.heard[0], straight.heard[0], "\(mode)")
            let ends = looped.notices.compactMap {
                if case .ended(let frame) = $0 { frame.value } else { nil }
            }
            #expect(ends == [35_005], "4 times 7,001 frames over 0.8")
        }
    }

    @Test("A session's loop goes round in its own time, pass after pass, on every track")
    func sessionLoop() throws {
        // 1,001 frames at rate 1.25 are 800.8: passes may not add up a rounding.
        let source = SignalSource.impulse(at: 500, frames: 48_000)
        let tapes = [TrackRate(mode: .tape), TrackRate(rate: 0.8, mode: .tape)]
        let rig = try play(
            [TrackStream(clips: [Clip(source: source)])], session: 1.25, rates: [tapes[0]], loop: 0..<1_001,
            frames: 160_400)
        let heard = impulses(rig.heard[0])
        #expect(heard.count == 200)
        for (pass, frame) in heard.enumerated() {
            #expect(abs(Double(frame) - (500 + 1_001 * Double(pass)) / 1.25) <= 1, "pass \(pass): \(frame)")
        }
        #expect(rig.host.timelinePosition == (160_400 * 5 / 4) % 1_001)
        // At the tracks' own rate of 0.8 it is the file as it is, cut at the loop.
        let plain = try play(
            [TrackStream(clips: [Clip(source: SignalSource.ramp(frames: 48_000))])], session: 1.25,
            rates: [tapes[1]], loop: 0..<10_000, frames: 20_000)
        let ramp = try samples(SignalSource.ramp(frames: 48_000), frames: 8_000)
        expectIdentical(Array(plain.heard[0]), ramp + ramp + Array(ramp[..<4_000]))
    }

    @Test("The same bits at every block size", arguments: [TrackRate.Mode.fine, .fast, .tape])
    func blocks(mode: TrackRate.Mode) throws {
        let streams = {
            [1, 2].map {
                TrackStream(clips: [
                    Clip(
                        source: SignalSource.noise(seed: UInt64($0), frames: 20_000), start: Int64($0) * 777),
                    Clip(
                        source: SignalSource.noise(seed: 9, frames: 9_000), start: 12_000, fadeIn: 400,
                        fadeOut: 500),
                ])
            }
        }
        let rates = [TrackRate(rate: 0.75, mode: mode), TrackRate(rate: 0.75, mode: mode)]
        let whole = try play(streams(), rates: rates, from: 300, frames: 30_000, block: 4_096).heard
        for block in [64, 333, 1_024] {
            let heard = try play(streams(), rates: rates, from: 300, frames: 30_000, block: block).heard
            expectIdentical(heard[0], whole[0], "blocks of \(block)")
        }
        let other = try play(streams(), rates: rates, from: 301, frames: 30_000, block: 64).heard
        #expect(other[0] != whole[0], "a frame later is seen")
    }

    @Test("The position is the integral of the rate within a frame, through 60 changes and 1")
    func position() throws {
        let rig = try play(
            [TrackStream(clips: [Clip(source: SignalSource(frames: Self.long) { _, _ in 0.5 })])],
            session: 0.9,
            rates: [TrackRate(mode: .tape)], from: 1_000, frames: 4_000)
        var random = SplitMix(seed: 3)
        var (integral, rate) = (1_000 + 4_000 * 0.9, 0.9)
        for turn in 0..<60 {
            let next = turn % 20 == 19 ? 1 : Double.random(in: 0.5...2, using: &random)
            let rates = Rates(session: next, tracks: rig.host.rates.tracks)
            // Where it settles at 1 it is taken up by a stream without a stretcher, and by one with one after that.
            let turns = rig.host.canTurn(to: rates)
            let before = rig.host.transportPosition.streamFrame
            let effect = turns ? try rig.go(to: rates) - before : Int64(2_400)
            if !turns { try rig.takeUp(at: rates) }
            let block = Int64(16_000)
            rig.render(Int(block))
            let ramp = turns ? Double(RatePath.rampFrames) : 0
            integral +=
                Double(effect) * rate + ramp * (rate + next) / 2 + (next - rate) / 2 * (ramp > 0 ? 1 : 0)
            integral += (Double(block - effect) - ramp) * next
            rate = next
            #expect(abs(Double(rig.host.timelinePosition) - integral) <= 1, "after change \(turn)")
            if turn % 20 == 19 {
                try rig.takeUp(at: rates)
                rig.render(8_000)
                integral += 8_000
            }
        }
        // What is left is what there is: it ends where it says.
        let left = try #require(rig.host.framesLeft)
        let began = rig.driver.engineFrame
        rig.render(Int(left) + 2_000)
        let ends = rig.notices.compactMap { if case .ended(let frame) = $0 { frame.value } else { nil } }
        #expect(ends == [began + left])
        #expect(rig.host.sessionEnd == rig.host.timelinePosition)
    }

    @Test("A track's own rate moves its end, not the timeline nor what comes after it")
    func ownRate() throws {
        let clips = [
            Clip(source: SignalSource.impulse(at: 20_000, frames: 24_000)),
            Clip(source: SignalSource.impulse(at: 4_000, frames: 10_000), start: 96_000),
        ]
        let rig = try OfflineRig(
            [TrackStream(clips: clips)], rates: [TrackRate(rate: 0.5, mode: .tape)])
        try rig.locate(to: 0)
        try rig.host.send([.start])
        rig.render(20_000)
        let rates = Rates(tracks: [rig.tracks[0]: TrackRate(rate: 1.25, mode: .tape)])
        #expect(rig.host.canTurn(to: rates))
        let effect = rig.host.turn(to: rates)
        rig.render(120_000)
        // 20,000 media frames: to the effect at 0.5, then over the ramp, then at 1.25.
        let ramp = Double(RatePath.rampFrames)
        let media = Double(effect) * 0.5 + ramp * 0.875 + 0.375
        let first = Double(effect) + ramp + (20_000 - media) / 1.25
        let heard = impulses(rig.heard[0])
        #expect(heard.count == 2)
        #expect(abs(Double(heard[0]) - first) <= 1)
        #expect(abs(Double(heard[1]) - (96_000 + 4_000 / 1.25)) <= 1, "\(heard)")
        #expect(rig.host.timelinePosition == 104_000, "it stands where the last clip ends")
    }

    @Test("Six tracks in one group change on one frame, and one that leaves it goes on where it was")
    func regroup() throws {
        let tracks = (0..<3).map { _ in
            TrackStream(clips: [Clip(source: SignalSource.noise(seed: 1, frames: Self.long))])
        }
        let fast = TrackRate(rate: 0.8, mode: .fast)
        let rig = try OfflineRig(
            tracks, gains: [(1, 1), (-1, -1), (0, 0)], rates: [fast, fast, fast])
        try rig.locate(to: 0)
        try rig.host.send([.start])
        rig.render(10_000)
        // The third goes its own way; the two that stay cancel each other as before.
        var rates = rig.host.rates
        rates.tracks[rig.tracks[2]] = TrackRate(rate: 0.9, mode: .fast)
        #expect(!rig.host.canTurn(to: rates), "one stretcher plays them all")
        try rig.takeUp(at: rates)
        rig.render(20_000)
        for track in rig.tracks { rates.tracks[track]?.rate = 1.1 }
        #expect(rig.host.canTurn(to: rates))
        rig.host.turn(to: rates)
        rig.render(10_000)
        #expect(rig.host.canSettle, "they could be one group again")
        try rig.takeUp(at: rates)
        rig.render(10_000)
        #expect(!rig.host.canSettle)
        // While two streams cross over, four numbers are added up, in an order that rounds.
        #expect(peakDecibels(rig.heard[0]) < -120)
        #expect(
            rig.heard[0][..<12_400].allSatisfy { $0 == 0 }
                && rig.heard[0].suffix(4_000).allSatisfy { $0 == 0 })
        #expect(rig.host.timelinePosition == 50_000)
    }
}
