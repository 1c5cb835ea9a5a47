import Foundation
import Stretch
import Testing
import TestSupport

/// All of it, or `count` frames, in blocks of sizes that `block` gives.
func play(_ stretcher: Stretcher, _ count: Int? = nil, block: () -> Int = { 512 }) throws -> [Float] {
    let channels = stretcher.channelCount
    var (heard, left): ([Float], Int) = ([], count ?? .max)
    while left > 0 {
        let n = min(block(), left)
        var piece = [Float](repeating: .nan, count: n * channels)
        let made = try unsafe piece.withUnsafeMutableBufferPointer {
            try unsafe stretcher.process(into: $0.baseAddress!, count: n)
        }
        heard += piece[..<(made * channels)]
        left -= made
        if made < n { break }
    }
    return heard
}

let engines = [StretchEngine.fine, .fast]

extension Stretcher {
    /// At 48 kHz.
    convenience init(
        _ source: any StretchSource, _ engine: StretchEngine, rate: Double, semitones: Double = 0,
        movesPitch: Bool = false
    ) throws {
        try self.init(
            source, sampleRate: 48_000, engine: engine, rate: rate, semitones: semitones,
            movesPitch: movesPitch)
    }
}

@Suite("Rubber Band at another rate")
struct StretcherTests {
    static let rates = [0.5, 0.8, 1.25, 2.0]

    @Test("440 Hz stay within a cent", arguments: engines, rates)
    func pitch(engine: StretchEngine, rate: Double) throws {
        let heard = try play(
            try Stretcher(ProbeSource.sine(440, frames: 200_000), engine, rate: rate), 26_000)
        let omega = 2 * Double.pi * 440 / 48_000
        let off = cents(heard, from: 8_000, to: 24_000, length: 2_000, omega: omega)
        #expect(abs(off) < 1, "\(off) cents")
        // The measure sees 2 cents, as long as the phase moves less than half a turn.
        let other = cents(heard, from: 8_000, to: 24_000, length: 2_000, omega: omega * exp2(2 / 1_200))
        #expect(abs(other + 2) < 1)
    }

    @Test("A pitch moves by its semitones, the length does not", arguments: engines, [-12.0, -0.5, 7])
    func semitones(engine: StretchEngine, semitones: Double) throws {
        let source = ProbeSource.sine(440, frames: 30_001)
        let heard = try play(try Stretcher(source, engine, rate: 1.25, semitones: semitones))
        #expect(heard.count == 24_001)
        let omega = 2 * Double.pi * 440 / 48_000 * exp2(semitones / 12)
        #expect(abs(cents(heard, from: 6_000, to: 16_000, length: 2_000, omega: omega)) < 1)
        #expect(ToneFit(heard[6_000..<10_000], omega: omega).amplitude > (engine == .fine ? 0.9 : 0.5))
    }

    @Test("Lengths are the source's over the rate, rounded half to even", arguments: engines)
    func lengths(engine: StretchEngine) throws {
        let wanted: [(Int64, Double, Int)] = [
            (0, 0.5, 0), (1, 2, 0), (3, 2, 2), (5, 2, 2), (3, 1.2, 2), (9, 1.2, 8), (10_000, 0.8, 12_500),
            (5_001, 1.25, 4_001), (777, 0.5, 1_554), (4_003, 1.7, 2_355),
        ]
        for (frames, rate, length) in wanted {
            let source = ProbeSource(channels: 2, frames: frames) { noise($0, $1) }
            let stretcher = try Stretcher(source, engine, rate: rate)
            #expect(stretcher.endFrame == length, "\(frames) frames at \(rate)")
            #expect(try play(stretcher).count == 2 * length, "\(frames) frames at \(rate)")
            #expect(source.wasAskedRightly)
        }
    }

    /// A source, changes at stated frames, all of it: at every block size.
    private func run(_ engine: StretchEngine, channels: Int = 2, seed: Int = 0, block: () -> Int) throws
        -> [Float]
    {
        let source = ProbeSource(channels: channels, frames: 24_000) { noise($0 + seed, $1) }
        let stretcher = try Stretcher(source, engine, rate: 0.8)
        try stretcher.change(rate: 1.7, at: 5_000)
        try stretcher.change(rate: 1.3, at: 5_100)
        try stretcher.change(rate: 0.6, at: 12_000)
        return try play(stretcher, 20_000, block: block)
    }

    @Test("The same source and schedule give the same bits, whatever the blocks", arguments: engines)
    func determinism(engine: StretchEngine) throws {
        let whole = try run(engine) { 100_000 }
        for size in [64, 1_000] { expectIdentical(try run(engine) { size }, whole, "blocks of \(size)") }
        var lottery = Lottery(5)
        let random = try run(engine) { 1 + Int(lottery.next() * 900) }
        expectIdentical(random, whole, "random blocks")
        // A track and the same track turned over after the stretcher.
        #expect(peakDecibels(zip(random, whole.map { -$0 }).map { $0 + $1 }) == -.infinity)
        // Turned over before it they would not cancel, and other noise is other noise.
        #expect(try run(engine, seed: 7) { 512 } != whole)
    }

    @Test("A seek begins anew: the bits of a stretcher whose source begins there", arguments: engines)
    func seek(engine: StretchEngine) throws {
        let source = ProbeSource(frames: 20_000) { noise($0, $1) }
        let stretcher = try Stretcher(source, engine, rate: 0.8)
        _ = try play(stretcher, 3_000)
        try stretcher.change(rate: 1.25, at: 0)
        try stretcher.seek(outputFrame: 700, frame: 10_000)
        #expect(stretcher.outputFrame == 700 && stretcher.position(of: 704).frames == 10_005)
        #expect(stretcher.endFrame == 8_700)
        let heard = try play(stretcher)
        #expect(heard.count == 8_000 && stretcher.outputFrame == 8_700)
        // It has heard what comes before, so the bits are those of a source with that much of it.
        let again = try Stretcher(source, engine, rate: 1.25)
        try again.seek(outputFrame: 0, frame: 10_000)
        expectIdentical(try play(again, 4_000), Array(heard[..<4_000]))
    }

    @Test("What cannot be asked for is refused")
    func errors() throws {
        let source = ProbeSource(frames: 30_000) { noise($0, $1) }
        for rate in [0.2, 5, .nan] {
            #expect(throws: StretchError.self) { try Stretcher(source, .fast, rate: rate) }
        }
        #expect(throws: StretchError.semitones(25)) { try Stretcher(source, .fast, rate: 1, semitones: 25) }
        #expect(throws: StretchError.sampleRate(4_000)) {
            try Stretcher(source, sampleRate: 4_000, engine: .fine, rate: 1)
        }
        let stretcher = try Stretcher(source, .fast, rate: 1.5)
        #expect(throws: StretchError.fixedPitch) { try stretcher.change(semitones: 1, at: 0) }
        source.failure = (9_000, StretchError.engineMissing)
        #expect(throws: StretchError.engineMissing) { try play(stretcher) }
        let reached = stretcher.outputFrame
        source.failure = nil
        #expect(try play(stretcher).count <= 20_000 - Int(reached) + 512 && stretcher.outputFrame == 20_000)
    }
}
