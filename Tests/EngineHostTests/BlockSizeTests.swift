import EngineHost
import RenderCore
import TestSupport
import Testing

/// What a run does, and when.
private struct Event {
    enum Action {
        case gain(track: Int, left: Float, right: Float)
        case locate(Int64)
        case loop(from: Int64, Range<Int64>)
        case busGain(Float)
        case stop
        case start
    }

    let frame: Int64
    let action: Action
}

@Suite("Block sizes")
struct BlockSizeTests {
    /// 26 events at odd frames: gains taken up on the way, mutes, locates, loop ranges, stops and starts.
    private static let events: [Event] = [
        Event(frame: 1, action: .start),
        Event(frame: 1_003, action: .gain(track: 0, left: 0.25, right: 0.9)),
        Event(frame: 1_777, action: .gain(track: 0, left: 0.8, right: 0.1)),
        Event(frame: 2_047, action: .gain(track: 1, left: 0, right: 0)),
        Event(frame: 2_049, action: .busGain(0.5)),
        Event(frame: 5_001, action: .gain(track: 1, left: 1, right: 1)),
        Event(frame: 5_001, action: .gain(track: 2, left: -1, right: -1)),
        Event(frame: 9_999, action: .locate(40_001)),
        Event(frame: 10_101, action: .gain(track: 0, left: 0, right: 0)),
        Event(frame: 10_811, action: .gain(track: 0, left: 1, right: 1)),
        Event(frame: 20_003, action: .loop(from: 50_005, 48_003..<52_007)),
        Event(frame: 25_501, action: .gain(track: 2, left: 0.3, right: 0.3)),
        Event(frame: 30_013, action: .gain(track: 1, left: 0, right: 0)),
        Event(frame: 30_501, action: .gain(track: 1, left: 0.7, right: 0.7)),
        Event(frame: 31_337, action: .busGain(1)),
        Event(frame: 40_007, action: .locate(0)),
        Event(frame: 47_501, action: .stop),
        Event(frame: 48_001, action: .start),
        Event(frame: 49_999, action: .stop),
        Event(frame: 52_345, action: .start),
        Event(frame: 60_001, action: .locate(99_999)),
        Event(frame: 70_003, action: .loop(from: 3, 1..<1_000)),
        Event(frame: 75_757, action: .gain(track: 0, left: 0.5, right: 0.5)),
        Event(frame: 80_001, action: .locate(119_000)),
        Event(frame: 80_333, action: .gain(track: 2, left: 1, right: 1)),
        Event(frame: 80_555, action: .busGain(0.75)),
    ]

    private func run(nextBlock: @escaping () -> Int) throws -> [[Float]] {
        let streams = [
            TrackStream(clips: [Clip(source: SignalSource.noise(seed: 1, frames: 120_000))]),
            TrackStream(clips: [
                Clip(source: SignalSource.noise(seed: 2, channels: 1, frames: 30_001), plays: 3),
                Clip(
                    source: SignalSource.sine(hertz: 300, channels: 1, frames: 20_000), start: 25_001,
                    gain: 0.5,
                    fadeIn: 1_000, fadeOut: 2_000),
            ]),
            TrackStream(clips: [
                Clip(source: SignalSource.noise(seed: 3, channels: 5, frames: 9_999), plays: nil)
            ]),
        ]
        let rig = try OfflineRig(streams)
        try rig.locate(to: 0)
        var pending = Self.events[...]
        var done: Int64 = 0
        while done < 95_000 {
            let block = min(nextBlock(), Int(95_000 - done))
            while let event = pending.first, event.frame < done + Int64(block) {
                pending.removeFirst()
                try apply(event, to: rig)
            }
            rig.render(block, block: block)
            done += Int64(block)
        }
        #expect(pending.isEmpty)
        for notice in rig.notices {
            switch notice {
            case .underrun, .late, .lost, .refused: Issue.record("unexpected notice \(notice)")
            default: break
            }
        }
        return rig.heard
    }

    private func apply(_ event: Event, to rig: OfflineRig) throws {
        let frame = EngineFrame(event.frame)
        switch event.action {
        case .gain(let track, let left, let right):
            try rig.host.send([.trackGain(rig.tracks[track], left: left, right: right)], at: frame)
        case .busGain(let gain):
            try rig.host.send([.busGain(rig.main, left: gain, right: gain)], at: frame)
        case .locate(let position):
            try rig.locate(to: position, at: frame)
        case .loop(let position, let range):
            try rig.locate(to: position, loop: range, at: frame)
        case .stop:
            try rig.host.send([.stop], at: frame)
        case .start:
            try rig.host.send([.start], at: frame)
        }
    }

    @Test("26 events at odd frames give the same bits at every block size")
    func sameBits() throws {
        let reference = try run { 1024 }
        #expect(peakDecibels(reference[0]) > -12)
        for block in [16, 64, 100, 8192] {
            let heard = try run { block }
            for channel in 0..<2 { expectIdentical(heard[channel], reference[channel], "block \(block)") }
        }
        for seed in 1...4 {
            var generator = SplitMix(seed: UInt64(seed))
            let heard = try run { Int.random(in: 1...2000, using: &generator) }
            for channel in 0..<2 {
                expectIdentical(heard[channel], reference[channel], "random blocks \(seed)")
            }
        }
    }

    @Test("control: an event one frame later changes the bits")
    func control() throws {
        let rig = try OfflineRig(sources: [SignalSource.noise(seed: 1, frames: 20_000)])
        let late = try OfflineRig(sources: [SignalSource.noise(seed: 1, frames: 20_000)])
        for (rig, frame) in [(rig, Int64(777)), (late, 778)] {
            try rig.locate(to: 0)
            try rig.host.send([.start])
            try rig.host.send([.trackGain(rig.tracks[0], left: 0.5, right: 0.5)], at: EngineFrame(frame))
            rig.render(4_000)
        }
        #expect(rig.heard[0] != late.heard[0])
    }
}
