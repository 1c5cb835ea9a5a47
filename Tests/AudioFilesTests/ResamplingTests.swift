import AudioFiles
import Foundation
import Testing

@Suite("Reading files at another rate")
struct ResamplingTests {
    let bench: Workbench

    init() throws { bench = try Workbench() }

    /// A mono file of 32-bit floats.
    private func source(_ samples: [Float], rate: Int, sessionRate: Int) throws -> SoundFileSource {
        let data = samples.flatMap { s in (0..<4).map { UInt8(truncatingIfNeeded: s.bitPattern >> (8 * $0)) }
        }
        let path = try bench.write(
            wavBytes(format: 3, bits: 32, channels: 1, rate: rate, data: data), to: "\(rate).wav")
        return try SoundFileSource(path: path, sampleRate: sessionRate)
    }

    private func sine(_ frequency: Double, rate: Int, count: Int, amplitude: Double = 0.5) -> [Float] {
        (0..<count).map { Float(amplitude * sin(2 * .pi * frequency * Double($0) / Double(rate))) }
    }

    static let rates = [
        (44_100, 48_000), (48_000, 44_100), (96_000, 48_000), (22_050, 48_000), (8_000, 48_000),
        (192_000, 44_100),
        (44_101, 48_000),
    ]

    @Test("The length is the file's times the ratio, rounded half to even")
    func length() throws {
        #expect(
            try source(.init(repeating: 0, count: 44_100), rate: 44_100, sessionRate: 48_000).frameCount
                == 48_000)
        #expect(try source(.init(repeating: 0, count: 1), rate: 96_000, sessionRate: 48_000).frameCount == 0)
        #expect(try source(.init(repeating: 0, count: 3), rate: 96_000, sessionRate: 48_000).frameCount == 2)
        #expect(try source(.init(repeating: 0, count: 5), rate: 96_000, sessionRate: 48_000).frameCount == 2)
        let odd = try source(.init(repeating: 0, count: 100_001), rate: 44_100, sessionRate: 48_000)
        #expect(odd.frameCount == 108_845)
        #expect(try odd.allFrames().count == 108_845)
    }

    @Test("An impulse at frame k sounds at k times the ratio, symmetric to the sub-sample", arguments: rates)
    func impulse(rate: Int, sessionRate: Int) throws {
        let divisor = gcd(rate, sessionRate)
        // Three places where the grids meet, one of them behind some segments.
        let (filePeriod, sessionPeriod) = (rate / divisor, sessionRate / divisor)
        let places = [2_000, 40_000, 150_000].map { ($0 + filePeriod - 1) / filePeriod }
        var samples = [Float](repeating: 0, count: (places[2] * filePeriod) + 4_000)
        for place in places { samples[place * filePeriod] = 1 }
        let all = try source(samples, rate: rate, sessionRate: sessionRate).allFrames()
        for place in Set(places) {
            let centre = place * sessionPeriod
            #expect(all[centre] > 0.2, "no impulse at \(centre)")
            let differences = (1...300).map { abs(all[centre - $0] - all[centre + $0]) }
            // Libsoxr interpolates its coefficients for a ratio as odd as 44,101 to 48,000.
            let bound = sessionPeriod > 10_000 ? -100.0 : -120.0
            #expect(decibels(differences.max()!) < bound, "around \(centre)")
            #expect(all[centre...(centre + 300)].max() == all[centre])
        }
    }

    @Test("A tone keeps its phase from the first frame to the last, at every rate", arguments: rates)
    func tone(rate: Int, sessionRate: Int) throws {
        let seconds = 2
        let file = try source(
            sine(997, rate: rate, count: seconds * rate), rate: rate, sessionRate: sessionRate)
        let ideal = sine(997, rate: sessionRate, count: seconds * sessionRate)
        let all = try file.allFrames()
        #expect(all.count == ideal.count)
        let edge = 2_000  // the tone's own start and end are no steady tone
        let middle = edge..<ideal.count - edge
        let bound = rate == 44_101 ? -95.0 : -115.0
        #expect(differenceInDecibels(Array(all[middle]), Array(ideal[middle])) < bound)
    }

    @Test("Tones above half the session's rate do not come through")
    func aliases() throws {
        for frequency in stride(from: 24_300.0, through: 47_000, by: 1_900) {
            let file = try source(
                sine(frequency, rate: 96_000, count: 48_000), rate: 96_000, sessionRate: 48_000)
            let middle = try file.frames(from: 2_000, count: 20_000)
            #expect(decibels(middle.map(abs).max()!) < -120, "\(frequency) Hz")
        }
    }

    @Test("What is delivered depends on frame numbers only", arguments: rates)
    func division(rate: Int, sessionRate: Int) throws {
        var generator = SeededGenerator(state: 4)
        let samples = (0..<rate + rate / 2).map { _ in Float.random(in: -0.5...0.5, using: &generator) }
        let file = try source(samples, rate: rate, sessionRate: sessionRate)
        let all = try file.allFrames(block: 100_000)
        var pieces: [Float] = []
        while pieces.count < all.count {
            let block = Int.random(in: 1...5_000, using: &generator)
            pieces += try file.frames(from: Int64(pieces.count), count: block)
        }
        expectIdentical(pieces, all, "random pieces")
        for _ in 0..<10 {
            let frame = Int.random(in: 0..<all.count - 3_000, using: &generator)
            let part = try file.frames(from: Int64(frame), count: 3_000)
            expectIdentical(part, Array(all[frame..<frame + 3_000]), "from \(frame)")
        }
    }

    @Test("Segments meet without a seam: the whole equals one long conversion")
    func seams() throws {
        var generator = SeededGenerator(state: 5)
        let samples = (0..<100_000).map { _ in Float.random(in: -0.5...0.5, using: &generator) }
        for (rate, sessionRate) in Self.rates.dropLast() {
            let segments = try source(samples, rate: rate, sessionRate: sessionRate).allFrames()
            let whole = try converted(samples, from: rate, to: sessionRate, block: 10_000)
            #expect(segments.count == whole.count)
            #expect(differenceInDecibels(segments, whole) < -130, "\(rate) to \(sessionRate)")
        }
    }

    @Test("Copies of the same music at 44.1 and 48 kHz stay aligned after seeks")
    func alignment() throws {
        // Both are computed from the same formula, so neither is a conversion of the other.
        func chord(_ rate: Int) -> [Float] {
            (0..<4 * rate).map {
                let t = Double($0) / Double(rate)
                return Float(
                    0.2
                        * (sin(2 * .pi * 110.3 * t) + sin(2 * .pi * 1_931.7 * t + 1)
                            + sin(2 * .pi * 9_001.1 * t)))
            }
        }
        let low = try source(chord(44_100), rate: 44_100, sessionRate: 48_000)
        let high = try source(chord(48_000), rate: 48_000, sessionRate: 48_000)
        var generator = SeededGenerator(state: 6)
        for _ in 0..<20 {
            let frame = Int64.random(in: 1_000..<180_000, using: &generator)
            let a = try low.frames(from: frame, count: 5_000)
            let b = try high.frames(from: frame, count: 5_000)
            #expect(differenceInDecibels(a, b) < -115, "from \(frame)")
        }
    }

    @Test("A converted file that breaks off is delivered up to there, then throws once")
    func truncated() throws {
        try bench.makeMusic("music.wav", seconds: 4, rate: 44_100)
        try bench.run("flac", "music.wav", "-o", "whole.flac")
        let bytes = try bench.bytes("whole.flac")
        let path = try bench.write(Array(bytes.prefix(bytes.count / 2)), to: "half.flac")
        let whole = try SoundFileSource(path: bench.path("whole.flac"), sampleRate: 48_000).allFrames()
        let half = try SoundFileSource(path: path, sampleRate: 48_000)
        var all: [Float] = []
        #expect(throws: (any Error).self) {
            while true { all += try half.frames(from: Int64(all.count / 2), count: 1_000) }
        }
        #expect(60_000..<130_000 ~= all.count / 2)
        let sound = all.count - 2 * 500  // the resampler hears silence after the break
        expectIdentical(Array(all.prefix(sound)), Array(whole.prefix(sound)), "before the break")
        #expect(try half.allFrames().count == all.count)
    }

    @Test("The streaming converter does not mind how its input is divided, and makes the exact length")
    func streaming() throws {
        var generator = SeededGenerator(state: 7)
        let samples = (0..<100_001).map { _ in Float.random(in: -0.5...0.5, using: &generator) }
        for (from, to) in Self.rates + [(48_000, 48_000)] {
            let once = try converted(samples, from: from, to: to, block: samples.count)
            #expect(
                once.count
                    == Int((Double(samples.count) * Double(to) / Double(from)).rounded(.toNearestOrEven)))
            for block in [1, 64, 1_000] where block > 1 || to < 48_000 {
                expectIdentical(
                    try converted(samples, from: from, to: to, block: block), once, "blocks of \(block)")
            }
            if from == to { expectIdentical(once, samples, "equal rates") }
        }
    }

    private func converted(_ samples: [Float], from: Int, to: Int, block: Int) throws -> [Float] {
        let converter = try RateConverter(from: from, to: to, channelCount: 1)
        var all: [Float] = []
        let collect: RateConverter.Deliver = { frames, count in
            unsafe all += UnsafeBufferPointer(start: frames, count: count)
        }
        try unsafe samples.withUnsafeBufferPointer {
            for start in stride(from: 0, to: samples.count, by: block) {
                try unsafe converter.push(
                    $0.baseAddress! + start, count: min(block, samples.count - start), deliver: collect)
            }
        }
        try unsafe converter.finish(deliver: collect)
        return all
    }

    private func gcd(_ a: Int, _ b: Int) -> Int { b == 0 ? a : gcd(b, a % b) }
}
