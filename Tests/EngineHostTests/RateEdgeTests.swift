import CRealtime
import Dispatch
import EngineHost
import RenderCore
import Synchronization
import TestSupport
import Testing

/// A track that is 1 from its first frame to its last.
private func level(_ value: Float = 1, frames: Int64 = 4_800_000) -> TrackStream {
    TrackStream(clips: [Clip(source: SignalSource(frames: frames) { _, _ in value })])
}

@Suite("Rates: edges")
struct RateEdgeTests {
    @Test(
        "a stretched track plays in blocks shorter than a voice's turn",
        arguments: [TrackRate.Mode.fine, .fast, .tape])
    func shortBlocks(mode: TrackRate.Mode) throws {
        let rig = try OfflineRig([level()], rates: [TrackRate(rate: 0.8, mode: mode)])
        rig.host.streaming.setPeriod(64)
        try rig.locate(to: 0)
        rig.host.streaming.setPeriod(64)
        try rig.host.send([.start])
        rig.render(9_600, block: 64)
        #expect(rig.heard[0].suffix(1_000).allSatisfy { ($0 - 1).magnitude < 0.05 })
    }

    @Test("a rate that changes when a locate has been sent and not come yet is heard in the new stream")
    func turnBeforeLocate() throws {
        let rig = try OfflineRig([level()], rates: [TrackRate(rate: 0.8, mode: .tape)])
        try rig.locate(to: 0)
        try rig.host.send([.start])
        rig.render(200_000)
        try rig.locate(to: 480_000)
        var rates = rig.host.rates
        rates.session = 1.25
        #expect(rig.host.canTurn(to: rates))
        let effect = rig.host.turn(to: rates)
        #expect(effect < 20_000)
    }

    @Test("a clip that is over does not come back when its stream is taken up at a lower rate")
    func clipThatIsOver() throws {
        let rig = try OfflineRig(
            [level(frames: 96_000), level(0)], rates: [TrackRate(rate: 2, mode: .tape)])
        try rig.locate(to: 0)
        try rig.host.send([.start])
        rig.render(60_000)
        rig.forget()
        try rig.takeUp(at: Rates())
        rig.render(60_000)
        #expect(rig.heard[0].allSatisfy { $0 == 0 })
    }

    @Test("the others of a group go on when one of its tracks is taken out")
    func removedFromGroup() throws {
        let fast = TrackRate(rate: 0.8, mode: .fast)
        let rig = try OfflineRig([level(), level(0.5)], rates: [fast, fast])
        try rig.locate(to: 0)
        try rig.host.send([.start])
        rig.render(20_000)
        try rig.host.adopt(rig.graph(of: [rig.tracks[1]]))
        rig.render(1_024)
        rig.host.freeRetiredPlans()
        rig.host.removeTrack(rig.tracks[0])
        // What takes its place at once plays its own.
        let slot = try rig.host.addTrack(level(0.25), left: 1, right: 1)
        try rig.host.adopt(rig.graph(of: [rig.tracks[1], slot]))
        rig.render(200_000)
        #expect(rig.heard[0].suffix(100_000).allSatisfy { ($0 - 0.75).magnitude < 0.05 })
        #expect(!rig.notices.contains { if case .underrun = $0 { true } else { false } })
    }

    @Test("a track that joins a stream which is being primed does not count for one that is not there yet")
    func joinPriming() throws {
        let host = RenderHost(HostConfiguration(sampleRate: 48_000, trackCapacity: 2))
        let (isPrimed, isOver) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let wasEarly = Atomic<Bool>(false)
        let slow = SignalSource(frames: 48_000) { frame, channel in
            // Time enough for the other one.
            if frame == 0, channel == 0, isPrimed.wait(timeout: .now() + 0.3) == .success {
                wasEarly.store(true, ordering: .relaxed)
            }
            return 1
        }
        _ = try host.addTrack(TrackStream(clips: [Clip(source: slow)]), left: 1, right: 1)
        _ = host.prime(StreamMap(start: 0)) {
            isPrimed.signal()
            isOver.signal()
        }
        _ = try host.addTrack(level(), left: 1, right: 1)
        host.streaming.start(threads: 2, priority: nil)
        isOver.wait()
        host.streaming.stop()
        let isEarly = wasEarly.load(ordering: .relaxed)
        #expect(!isEarly)
    }

    @Test(
        "a track that joins a stream that stands still plays from there",
        arguments: [TrackRate.Mode.fine, .fast, .tape])
    func joinStanding(mode: TrackRate.Mode) throws {
        let rig = try OfflineRig([level(0)])
        try rig.locate(to: 0)
        try rig.host.send([.start])
        rig.render(50_000)
        try rig.host.send([.stop])
        rig.render(10_000)
        let place = rig.host.timelinePosition
        let impulse = SignalSource.impulse(at: 2 * (place + 10_000), frames: 960_000)
        let slot = try rig.host.addTrack(
            TrackStream(clips: [Clip(source: impulse)]), left: 1, right: 1,
            rate: TrackRate(rate: 2, mode: mode))
        try rig.host.adopt(rig.graph(of: [slot]))
        rig.render(512)
        rig.forget()
        rig.host.prepareStart()
        try rig.host.send([.start])
        rig.render(20_000)
        let loudest = rig.heard[0].indices.max { rig.heard[0][$0].magnitude < rig.heard[0][$1].magnitude }!
        #expect((loudest - 10_000).magnitude < 300, "\(loudest)")
    }

    @Test("a rate changes at once behind ten thousands of times round a loop")
    func manyPasses() throws {
        let rig = try OfflineRig([level(), level()], rates: [TrackRate(rate: 2, mode: .tape)])
        try rig.locate(to: 0, loop: 0..<1)
        try rig.host.send([.start])
        rig.render(48_000, block: 4_096)
        var rates = rig.host.rates
        rates.tracks[rig.tracks[0]]?.rate = 1.5
        // Processor time, in which waiting for a thread's turn does not count.
        let before = rt_thread_cpu_nanoseconds()
        rig.host.turn(to: rates)
        #expect(rt_thread_cpu_nanoseconds() - before < 100_000_000)
    }

    @Test("loops and places that are far beyond all music trap nothing")
    func hostile() throws {
        let long = SignalSource(frames: 1_000_000_000) { _, _ in 0.5 }
        let clips: [[Clip]] = [
            [Clip(source: long, plays: nil)],
            [Clip(source: long, start: Int64.max / 4, plays: 1_000_000_000)],
            [Clip(source: long, length: 0)],
        ]
        for (session, own) in [(2.0, 2.0), (0.5, 0.5)] {
            for clips in clips {
                let rig = try OfflineRig(
                    [TrackStream(clips: clips)], sampleRate: 8_000, session: session,
                    rates: [TrackRate(rate: own, mode: .tape)])
                for (start, loop) in [
                    (Int64(0), nil), (Int64.max / 4, nil), (0, 0..<Int64.max), (Int64.max / 4, 0..<1),
                    (5, (Int64.max - 1)..<Int64.max),
                ] as [(Int64, Range<Int64>?)] {
                    try rig.locate(to: start, loop: loop)
                    rig.host.prepareStart()
                    try rig.host.send([.start])
                    rig.render(500)
                    _ = (rig.host.sessionEnd, rig.host.framesLeft, rig.host.timelinePosition)
                    var rates = rig.host.rates
                    rates.tracks[rig.tracks[0]]?.rate = own * 0.99 + 0.01
                    try rig.go(to: rates)
                    rig.render(1_000)
                    _ = (rig.host.sessionEnd, rig.host.framesLeft, rig.host.timelinePosition)
                    try rig.host.send([.stop])
                    rig.render(1_000)
                }
            }
        }
    }

    @Test(
        "a loop range at a rate is the same media one behind the other, to the bit",
        arguments: [TrackRate.Mode.fine, .fast, .tape])
    func loops(mode: TrackRate.Mode) throws {
        let noise = SignalSource.noise(seed: 4, frames: 100_000)
        let values = try samples(noise, frames: 100_000)
        let unrolled = SignalSource(frames: 400_000) { frame, _ in
            values[Int(frame < 20_000 ? frame : 1_001 + (frame - 20_000) % 18_999)]
        }
        let looped = SignalSource(frames: 100_000) { frame, _ in values[Int(frame)] }
        func heard(_ source: SignalSource, loop: Range<Int64>?) throws -> [Float] {
            let rig = try OfflineRig(
                [TrackStream(clips: [Clip(source: source)])], session: 1.25, rates: [TrackRate(mode: mode)])
            try rig.locate(to: 700, loop: loop)
            try rig.host.send([.start])
            rig.render(20_000, block: 777)
            try rig.host.send([.stop])
            rig.render(5_000)
            rig.host.prepareStart()
            try rig.host.send([.start])
            rig.render(20_000, block: 512)
            return rig.heard[0]
        }
        expectIdentical(
            try heard(looped, loop: 1_001..<20_000), try heard(unrolled, loop: nil), "\(mode)")
    }
}
