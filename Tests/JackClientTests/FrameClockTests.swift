import Foundation
import RenderCore
import TestSupport
import Testing

/// A callback as JACK announces it.
private struct Callback {
    var jackFrame: UInt32
    var frames: UInt32
}

/// What a clock made of a sequence of callbacks.
private struct Run {
    var clock = FrameClock()
    var cycles: [FrameClock.Cycle] = []
    var skips: [Int64] { cycles.map(\.skipped).filter { $0 != 0 } }

    /// Runs `callbacks` through a clock and holds it to what always holds: engine frames follow each other without
    /// a gap except for skips that are announced, and those are what it counted.
    init(_ callbacks: [Callback], startingAt engineFrame: Int64 = 0) {
        clock = FrameClock(startingAt: EngineFrame(engineFrame))
        var next = engineFrame
        for callback in callbacks {
            let cycle = clock.advance(jackFrame: JackFrame(callback.jackFrame), frames: callback.frames)
            #expect(cycle.skipped >= 0)
            #expect(cycle.engineFrame.value == next + cycle.skipped)
            next = cycle.engineFrame.value + Int64(callback.frames)
            cycles.append(cycle)
        }
        #expect(clock.nextEngineFrame.value == next)
        #expect(clock.lostFrames == skips.reduce(0, +))
        #expect(clock.jumps == Int64(skips.count))
    }
}

/// Callbacks that begin at `start` and deviate from steps of `period` by `deviations`.
private func callbacks(start: UInt32, period: UInt32 = 64, deviations: [Int32]) -> [Callback] {
    deviations.enumerated().map { index, deviation in
        Callback(
            jackFrame: start &+ UInt32(index) &* period &+ UInt32(bitPattern: deviation), frames: period)
    }
}

/// Where sequences begin: anywhere, and so that the counter wraps in their middle.
private let starts: [UInt32] = [0, 1_000_000, UInt32.max - 200, UInt32(1) << 31 - 200]

struct FrameClockTests {
    @Test(arguments: [16, 32, 64, 100, 256, 1024, 8192] as [UInt32], starts)
    func `A counter that steps by the period loses nothing, across the wrap`(period: UInt32, start: UInt32) {
        let run = Run(callbacks(start: start, period: period, deviations: Array(repeating: 0, count: 1000)))
        #expect(run.clock.lostFrames == 0)
        #expect(run.clock.lateReadings == 0)
        #expect(run.clock.reanchorings == 0)
        #expect(run.clock.nextEngineFrame.value == 1000 * Int64(period))
    }

    @Test func `Twice around the counter's 32 bits is twice 2³² engine frames`() {
        var clock = FrameClock()
        let cycles = 2 << 32 / 8192
        var jackFrame: UInt32 = 77
        for _ in 0..<cycles {
            _ = clock.advance(jackFrame: JackFrame(jackFrame), frames: 8192)
            jackFrame &+= 8192
        }
        #expect(clock.nextEngineFrame.value == 2 << 32)
        #expect(clock.lostFrames == 0)
    }

    @Test(arguments: starts, [64, 128, 320, -64] as [Int32])
    func `A late reading that the next callback takes back is only counted`(start: UInt32, late: Int32) {
        let run = Run(callbacks(start: start, deviations: [0, 0, 0, late, 0, 0, 0, late, 0]))
        #expect(run.clock.lateReadings == 2)
        #expect(run.clock.lostFrames == 0)
        #expect(run.clock.reanchorings == 0)
    }

    @Test(arguments: starts)
    func `A jump is skipped at its second callback`(start: UInt32) {
        let run = Run(callbacks(start: start, deviations: [0, 0, 142_336, 142_336, 142_336, 142_336]))
        #expect(run.cycles.map(\.skipped) == [0, 0, 0, 142_336, 0, 0])
        #expect(run.cycles[3].engineFrame.value == 3 * 64 + 142_336)
        #expect(run.clock.lateReadings == 0)
    }

    @Test(arguments: starts)
    func `A late reading on top of a jump does not count as lost`(start: UInt32) {
        let run = Run(callbacks(start: start, deviations: [0, 0, 640, 704, 640, 640]))
        #expect(run.skips == [640])
        #expect(run.clock.lateReadings == 1)
    }

    @Test(arguments: starts)
    func `Losses in every cycle are followed, one callback behind`(start: UInt32) {
        let run = Run(callbacks(start: start, deviations: [0, 64, 128, 192, 256, 256, 256]))
        #expect(run.cycles.map(\.skipped) == [0, 0, 64, 64, 64, 64, 0])
    }

    @Test(arguments: starts)
    func `A counter that went back for good is taken up anew and skips nothing`(start: UInt32) {
        let run = Run(callbacks(start: start, deviations: [0, 0, -5000, -5000, -5000, -5000]))
        #expect(run.skips.isEmpty)
        #expect(run.clock.reanchorings == 1)
        #expect(run.clock.lateReadings == 0)
    }

    @Test(arguments: starts)
    func `A change of period is taken up anew and skips nothing`(start: UInt32) {
        let before = callbacks(start: start, period: 1024, deviations: [0, 0, 0])
        let down = callbacks(start: start &+ 3 * 1024 &- 960, period: 64, deviations: [0, 0, 0])
        let up = callbacks(
            start: start &+ 3 * 1024 &- 960 &+ 3 * 64 &+ 8128, period: 8192, deviations: [0, 0, 0])
        let run = Run(before + down + up)
        #expect(run.skips.isEmpty)
        #expect(run.clock.reanchorings == 2)
        #expect(run.clock.nextEngineFrame.value == 3 * (1024 + 64 + 8192))
    }

    @Test func `After another server's counter the engine frames go on`() {
        var clock = FrameClock(startingAt: EngineFrame(1_000_000))
        _ = clock.advance(jackFrame: JackFrame(500), frames: 64)
        clock.reanchor()
        let cycle = clock.advance(jackFrame: JackFrame(4_000_000_000), frames: 64)
        #expect(cycle.engineFrame.value == 1_000_064)
        #expect(cycle.skipped == 0)
        #expect(clock.offset.jackFrame(of: EngineFrame(1_000_064)) == JackFrame(4_000_000_000))
    }

    @Test(arguments: starts)
    func `JACK frames and engine frames turn into each other`(start: UInt32) {
        let run = Run(
            callbacks(start: start, deviations: Array(repeating: 0, count: 10)), startingAt: 9_000_000_000)
        let offset = run.clock.offset
        let now = run.clock.nextEngineFrame
        #expect(offset.jackFrame(of: EngineFrame(9_000_000_000)) == JackFrame(start))
        for distance in [0, 1, -1, 640, 2_000_000_000, -2_000_000_000] {
            #expect(offset.engineFrame(of: offset.jackFrame(of: now + distance), near: now) == now + distance)
        }
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `Whatever the counter says, frames follow each other except for skips`(seed: UInt64) {
        var random = SplitMix(seed: seed)
        var jackFrame = UInt32.random(in: 0...UInt32.max, using: &random)
        var sequence: [Callback] = []
        for _ in 0..<2000 {
            let frames: UInt32 = UInt32.random(in: 0..<20, using: &random) == 0 ? 128 : 64
            switch UInt32.random(in: 0..<10, using: &random) {
            case 0: jackFrame = UInt32.random(in: 0...UInt32.max, using: &random)
            case 1: jackFrame &+= UInt32.random(in: 0..<1000, using: &random)
            case 2: jackFrame &-= UInt32.random(in: 0..<1000, using: &random)
            default: break
            }
            sequence.append(Callback(jackFrame: jackFrame, frames: frames))
            jackFrame &+= frames
        }
        _ = Run(sequence)
    }
}

/// What record-sequences kept.
enum RecordedSequence {
    /// The callbacks of the sequence `name`: the JACK frame of each, and its length.
    static func rows(_ name: String) throws -> [(jackFrame: UInt32, frames: UInt32)] {
        let url = try #require(
            Bundle.module.url(forResource: name, withExtension: "log", subdirectory: "Sequences"))
        return try String(contentsOf: url, encoding: .utf8).split(separator: "\n").map { line in
            let numbers = line.split(separator: " ").compactMap { UInt32($0) }
            return (numbers[0], numbers[1])
        }
    }
}

/// What jackd 1.9.21 did, as record-sequences kept it; each also moved so that the counter wraps in its middle.
struct RecordedSequenceTests {
    private func run(_ name: String, wrapping: Bool) throws -> Run {
        let rows = try RecordedSequence.rows(name)
        let middle = rows[rows.count / 2].jackFrame
        let offset = wrapping ? 0 &- middle &- 30 : 0
        return Run(rows.map { Callback(jackFrame: $0.jackFrame &+ offset, frames: $0.frames) })
    }

    @Test(arguments: [false, true])
    func `A synchronous server's counter is exact`(wrapping: Bool) throws {
        let run = try run("synchronous-64", wrapping: wrapping)
        #expect(run.clock.lostFrames == 0)
        #expect(run.clock.lateReadings == 0)
    }

    @Test(arguments: ["asynchronous-64", "asynchronous-16"], [false, true])
    func `An asynchronous server's losses end where its counter does`(name: String, wrapping: Bool) throws {
        let run = try run(name, wrapping: wrapping)
        #expect(run.clock.lostFrames > 0)
        #expect(run.clock.reanchorings == 0)
    }

    @Test(
        arguments: [("client-stopped-60ms", 2880), ("client-stopped-3s", 143_000)] as [(String, Int64)],
        [false, true])
    func `A stopped client skips what it missed`(stop: (name: String, frames: Int64), wrapping: Bool) throws {
        let run = try run(stop.name, wrapping: wrapping)
        let longest = try #require(run.skips.max())
        #expect(abs(longest - stop.frames) < 1500)
        #expect(run.clock.reanchorings == 0)
    }

    @Test(arguments: [false, true])
    func `A stalled server's time stands still`(wrapping: Bool) throws {
        let run = try run("server-stopped-1s", wrapping: wrapping)
        #expect(run.clock.lostFrames < 1000)
    }

    @Test(arguments: ["period-1024-to-64-to-8192", "period-1024-to-64-to-8192-synchronous"], [false, true])
    func `Changes of period skip nothing`(name: String, wrapping: Bool) throws {
        let run = try run(name, wrapping: wrapping)
        #expect(run.clock.reanchorings == 3)
        #expect(run.clock.lostFrames < 1024)
    }

    @Test(arguments: [false, true])
    func `Freewheel's counter is exact`(wrapping: Bool) throws {
        let run = try run("freewheel", wrapping: wrapping)
        #expect(run.clock.lostFrames == 0)
    }
}
