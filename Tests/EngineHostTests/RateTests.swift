import EngineHost
import Foundation
import RenderCore
import Stretch
import TestSupport
import Testing

/// Every way to play at another rate.
private let modes: [TrackRate.Mode] = [.fine, .fast, .tape]
private let rates = [0.5, 0.8, 1.25, 2]

/// A source as a stretcher takes it.
private final class Plain: StretchSource {
    private let source: any FrameSource
    var channelCount: Int { source.channelCount }
    var frameCount: Int64 { source.frameCount }
    init(_ source: any FrameSource) { self.source = source }

    func read(from frame: Int64, into buffer: UnsafeMutablePointer<Float>, count: Int) throws -> Int {
        try unsafe source.read(from: frame, into: buffer, count: count)
    }
}

/// What a stretcher or a varispeed alone makes of a source, one channel.
private func alone(_ source: any StretchSource, _ mode: TrackRate.Mode, rate: Double, semitones: Double = 0)
    throws
    -> [Float]
{
    var heard: [Float] = []
    var piece = [Float](repeating: 0, count: 512 * source.channelCount)
    let tape = try Varispeed(source, rate: rate)
    let engine: StretchEngine = mode == .fast ? .fast : .fine
    let stretcher = try Stretcher(
        source, sampleRate: 48_000, engine: engine, rate: rate, semitones: semitones,
        movesPitch: semitones != 0)
    while true {
        let made = try unsafe piece.withUnsafeMutableBufferPointer {
            mode == .tape
                ? try unsafe tape.process(into: $0.baseAddress!, count: 512)
                : try unsafe stretcher.process(into: $0.baseAddress!, count: 512)
        }
        for i in 0..<made { heard.append(piece[i * source.channelCount]) }
        if made < 512 { return heard }
    }
}

@Suite("Rates: what one track plays")
struct TrackRateTests {
    @Test("A track is its stretcher's output to the bit, and ends where that ends", arguments: modes, rates)
    func exact(mode: TrackRate.Mode, rate: Double) throws {
        let source = SignalSource.noise(seed: 3, frames: 30_001)
        let rig = try OfflineRig(
            [TrackStream(clips: [Clip(source: source)])], rates: [TrackRate(rate: rate, mode: mode)])
        try rig.locate(to: 0)
        try rig.host.send([.start])
        rig.render(66_000)
        let expected = try alone(Plain(source), mode, rate: rate)
        #expect(expected.count == Int((30_001 / rate).rounded(.toNearestOrEven)))
        expectIdentical(Array(rig.heard[0][..<expected.count]), expected)
        #expect(rig.heard[0][expected.count...].allSatisfy { $0 == 0 })
        let ends = rig.notices.compactMap { if case .ended(let frame) = $0 { frame.value } else { nil } }
        #expect(ends == [Int64(expected.count)])
    }

    @Test("The same file and its inverse leave nothing, through 100 changes of rate", arguments: modes)
    func null(mode: TrackRate.Mode) throws {
        let source = { SignalSource.noise(seed: 5, frames: 3_000_000) }
        let streams = (0..<2).map { _ in TrackStream(clips: [Clip(source: source())]) }
        let rate = TrackRate(rate: 0.8, mode: mode)
        let rig = try OfflineRig(streams, gains: [(1, 1), (-1, -1)], rates: [rate, rate])
        try rig.locate(to: 7_000)
        try rig.host.send([.start])
        var random = SplitMix(seed: 8)
        for turn in 0..<100 {
            var rates = rig.host.rates
            rates.session = Double.random(in: 0.625...1.6, using: &random)
            if turn % 10 == 9 { rates.session = 1.25 }
            try rig.go(to: rates)
            rig.render(Int.random(in: 500...2_500, using: &random), block: 333)
        }
        #expect(rig.heard[0].allSatisfy { $0 == 0 } && rig.heard[1].allSatisfy { $0 == 0 })
        // The control: one of them alone is heard.
        try rig.host.send([.trackGain(rig.tracks[1], left: 0, right: 0)])
        rig.render(8_000)
        #expect(peakDecibels(Array(rig.heard[0].suffix(4_000))) > -10)
    }

    @Test("A session's rate back at 1 gives the file's bits", arguments: modes)
    func backToOne(mode: TrackRate.Mode) throws {
        let source = SignalSource.noise(seed: 9, frames: 3_000_000)
        let rig = try OfflineRig(
            [TrackStream(clips: [Clip(source: source)])], rates: [TrackRate(mode: mode)])
        try rig.locate(to: 0)
        try rig.host.send([.start])
        rig.render(10_000)
        expectIdentical(rig.heard[0], try samples(source, frames: 10_000))
        for rate in [1.1, 0.9, 1] {
            try rig.go(to: Rates(session: rate, tracks: rig.host.rates.tracks))
            rig.render(9_000)
        }
        #expect(rig.host.canSettle)
        try rig.takeUp(at: rig.host.rates)
        rig.render(9_000)
        rig.forget()
        let place = rig.host.timelinePosition
        rig.render(9_000)
        expectIdentical(rig.heard[0], try samples(source, from: place, frames: 9_000))
        #expect(!rig.host.canSettle)
    }

    @Test("A steady sine makes no step of its own, through changes of rate and past 1", arguments: modes)
    func steps(mode: TrackRate.Mode) throws {
        let source = SignalSource.sine(hertz: 440, peak: 0.5, frames: 3_000_000)
        let rig = try OfflineRig([TrackStream(clips: [Clip(source: source)])], rates: [TrackRate(mode: mode)])
        try rig.locate(to: 0)
        try rig.host.send([.start])
        rig.render(5_000)
        var fastest = 1.0
        for rate in [0.9, 1, 1.25, 1.2, 0.8, 1, 0.5, 0.55, 1] {
            fastest = mode == .tape ? max(fastest, rate) : 1
            try rig.go(to: Rates(session: rate, tracks: rig.host.rates.tracks))
            rig.render(12_000)
            if rate == 1 {
                try rig.takeUp(at: rig.host.rates)
                rig.render(12_000)
            }
        }
        let own = 0.5 * 2 * sin(Double.pi * 440 * fastest / 48_000)
        #expect(Double(largestStep(rig.heard[0])) < 1.05 * own)
        #expect(rig.notices.allSatisfy { if case .underrun = $0 { false } else { true } })
        // A jump of 20 frames is one that would be seen.
        #expect(Double(largestStep(Array(rig.heard[0][..<40_000] + rig.heard[0][40_020...]))) > 1.05 * own)
    }

    @Test(
        "A pitch that moves while it plays moves the tone, and nothing else",
        arguments: [TrackRate.Mode.fine, .fast])
    func pitch(mode: TrackRate.Mode) throws {
        let source = SignalSource.sine(hertz: 440, peak: 0.5, channels: 1, frames: 3_000_000)
        let rig = try OfflineRig(
            [TrackStream(clips: [Clip(source: source)])], session: 0.9, rates: [TrackRate(mode: mode)])
        try rig.locate(to: 0)
        try rig.host.send([.start])
        rig.render(24_000)
        #expect(abs(cents(rig.heard[0].suffix(12_000), 440)) < 2)
        // The first needs another stretcher, the others do not.
        for (number, semitones) in [3, -2.5, 7, 0].enumerated() {
            var rates = rig.host.rates
            rates.tracks[rig.tracks[0]] = TrackRate(mode: mode, semitones: semitones)
            #expect(rig.host.canTurn(to: rates) == (number > 0))
            try rig.go(to: rates)
            rig.render(30_000)
            let heard = cents(rig.heard[0].suffix(12_000), 440 * pow(2, semitones / 12))
            #expect(abs(heard) < 2, "\(semitones) semitones are \(heard) cents off")
        }
        #expect(rig.host.timelinePosition == (24_000 + 4 * 30_000) * 9 / 10)
        // The control: a tenth of a semitone is seen.
        #expect(abs(cents(rig.heard[0].suffix(12_000), 440 * pow(2, 0.1 / 12))) > 5)
    }

    /// How far a tone is from `hertz`, in cents: by where it crosses zero upwards for the first and the last time.
    private func cents(_ tone: ArraySlice<Float>, _ hertz: Double) -> Double {
        let tone = Array(tone)
        var crossings: [Double] = []
        for i in 1..<tone.count where tone[i - 1] < 0 && tone[i] >= 0 {
            crossings.append(Double(i) - Double(tone[i] / (tone[i] - tone[i - 1])))
        }
        guard let first = crossings.first, let last = crossings.last, crossings.count > 2 else {
            return .infinity
        }
        let found: Double = 48_000 * Double(crossings.count - 1) / (last - first)
        return 1_200 * log2(found / hertz)
    }
}
