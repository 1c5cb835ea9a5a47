import EngineHost
import Foundation
import RenderCore
import TestSupport
import Testing

/// Plays three tracks offline by the frame counter of a server, as JACK's process callback does, and keeps each track's
/// sound apart.
private final class CounterRun {
    /// For each channel what was heard: the ramps of a stereo track and of two mono ones.
    private(set) var heard: [[Float]] = [[], [], [], []]
    /// The engine frame of every frame that was heard.
    private(set) var frames: [Int64] = []
    private(set) var clock = FrameClock()
    private(set) var notices: [Notice] = []

    private static var sources: [SignalSource] {
        [
            SignalSource(channels: 2, frames: 1 << 21) { frame, channel in expected(channel, at: frame) },
            SignalSource(channels: 1, frames: 1 << 21) { frame, _ in expected(2, at: frame) },
            SignalSource(channels: 1, frames: 1 << 21) { frame, _ in expected(3, at: frame) },
        ]
    }

    /// What a channel is to sound like at media frame `frame`.
    static func expected(_ channel: Int, at frame: Int64) -> Float {
        switch channel {
        case 0: Float(frame + 1)
        case 1: Float(frame + 1 + 1 << 22)
        case 2: Float(frame + 1)
        default: Float(frame * 7 + 1)
        }
    }

    /// Runs `callbacks`, a JACK frame and a length each; the transport starts with the first.
    init(_ callbacks: [(jackFrame: UInt32, frames: UInt32)]) throws {
        let host = RenderHost(HostConfiguration(sampleRate: 48_000, trackCapacity: 8))
        let driver = OfflineDriver(host: host, outputCount: 4)
        var tracks: [Graph.TrackNode] = []
        var buses: [Graph.BusNode] = []
        var output = 0
        for source in Self.sources {
            let bus = try host.addBus(channelCount: source.channelCount, left: 1, right: 1)
            let track = try host.addTrack(
                TrackStream(clips: [Clip(source: source)]), left: 1, right: 1)
            tracks.append(Graph.TrackNode(slot: track, bus: bus))
            buses.append(
                Graph.BusNode(slot: bus, channelCount: source.channelCount, firstOutput: output))
            output += source.channelCount
        }
        try host.adopt(Graph(tracks: tracks, buses: buses))
        host.streaming.start(threads: 2, priority: nil)
        let stream = driver.primeAndWait(StreamMap(start: 0))
        try host.send([stream.locate, .start])
        host.noteSent(stream)
        for callback in callbacks {
            let cycle = clock.advance(jackFrame: JackFrame(callback.jackFrame), frames: callback.frames)
            driver.loseFrames(Int(cycle.skipped))
            let frame = driver.engineFrame
            #expect(frame == cycle.engineFrame.value)
            let count = Int(callback.frames)
            driver.render(count)
            for channel in 0..<4 {
                unsafe heard[channel].append(
                    contentsOf: UnsafeBufferPointer(start: driver.output(channel), count: count))
            }
            frames += (0..<Int64(count)).map { frame + $0 }
            notices += host.takeNotices()
        }
        host.streaming.stop()
    }

    var lost: [Int64] {
        notices.compactMap { if case .lost(let frames, _) = $0 { frames } else { nil } }
    }

    var underruns: Int {
        notices.count { if case .underrun = $0 { true } else { false } }
    }

    /// Expects every frame of every track to be the medium's at that engine frame, but for `faded` frames.
    func expectInPlace(fadedAtMost faded: Int = 0, _ what: String) {
        for channel in 0..<4 {
            let expected = frames.map { Self.expected(channel, at: $0) }
            let wrong = zip(heard[channel], expected).count { $0 != $1 }
            #expect(wrong <= faded, "\(what), channel \(channel): \(wrong) frames are out of place")
            // Where it does not end in a fade, the end is in place whatever was before.
            #expect(heard[channel].suffix(64) == expected.suffix(64), "\(what), channel \(channel): the end")
        }
    }
}

/// What the engine makes of frame counters that a live server cannot be brought to, or not twice the same.
struct CounterTests {
    @Test(arguments: [64, 256, 1024] as [UInt32])
    func `The frame counter's wrap in the middle of playback changes nothing`(period: UInt32) throws {
        func run(from start: UInt32) throws -> CounterRun {
            try CounterRun(
                (0..<(48_000 / period)).map { (jackFrame: start &+ $0 &* period, frames: period) })
        }
        let plain = try run(from: 0)
        plain.expectInPlace("from 0")
        for start in [UInt32.max - 24_000, UInt32.max - period + 1, UInt32(1) << 31 - 24_000] {
            let wrapping = try run(from: start)
            #expect(wrapping.frames == plain.frames)
            #expect(wrapping.notices.count == plain.notices.count)
            for channel in 0..<4 {
                expectIdentical(wrapping.heard[channel], plain.heard[channel], "from \(start)")
            }
        }
    }

    /// As jackd 1.9.21 did them; see JackClientTests/record-sequences. Each also across the counter's wrap.
    @Test(arguments: [
        "synchronous-64", "asynchronous-64", "asynchronous-16", "client-stopped-60ms", "client-stopped-3s",
        "client-stopped-3s-synchronous", "server-stopped-1s", "period-1024-to-64-to-8192",
        "period-1024-to-64-to-8192-synchronous", "freewheel",
    ])
    func `What a server's counter did is skipped by all players alike, and nothing else`(name: String) throws
    {
        let rows = try RecordedSequence.rows(name)
        let middle = rows[rows.count / 2].jackFrame
        for offset in [0, 0 &- middle &- 30] as [UInt32] {
            let run = try CounterRun(rows.map { ($0.jackFrame &+ offset, $0.frames) })
            #expect(run.lost == run.lost.filter { $0 > 0 })
            #expect(run.lost.reduce(0, +) == run.clock.lostFrames)
            // Beyond the ring nothing is ready: each track is silent until there is, and fades in.
            let isBeyondRing = run.lost.contains { $0 > 60_000 }
            if !isBeyondRing { #expect(run.underruns == 0) }
            run.expectInPlace(fadedAtMost: isBeyondRing ? 8_192 : 0, name)
        }
    }
}
