import Foundation
import Stretch
import Testing
import TestSupport

/// All of it, or `count` frames, in blocks of sizes that `block` gives.
func play(_ varispeed: Varispeed, _ count: Int? = nil, block: () -> Int = { 512 }) throws -> [Float] {
    let channels = varispeed.channelCount
    var (heard, left): ([Float], Int) = ([], count ?? .max)
    while left > 0 {
        let n = min(block(), left)
        var piece = [Float](repeating: .nan, count: n * channels)
        let made = try unsafe piece.withUnsafeMutableBufferPointer {
            try unsafe varispeed.process(into: $0.baseAddress!, count: n)
        }
        heard += piece[..<(made * channels)]
        left -= made
        if made < n { break }
    }
    return heard
}

@Suite("A tape's rate: what it sounds like")
struct VarispeedSoundTests {
    private static let rates = [0.5, 0.8, 1.25, 2.0]

    /// A steady stretch of a tone at a rate, the ends left out.
    private func tone(_ frequency: Double, rate: Double, frames: Int = 2_048) throws -> [Float] {
        let source = ProbeSource.sine(frequency, frames: 1_000_000)
        let varispeed = try Varispeed(source, rate: rate)
        varispeed.seek(
            outputFrame: 5_000, position: SourcePosition(outputFrame: 5_000, rate: rate))
        return try play(varispeed, frames)
    }

    @Test("Tones come out at their pitch times the rate, and nothing else below -125 dB", arguments: rates)
    func residue(rate: Double) throws {
        for frequency in [60.0, 997, 5_003, 11_987, 18_011, 20_500] where frequency * max(1, rate) < 21_000 {
            let fit = ToneFit(try tone(frequency, rate: rate), omega: 2 * .pi * frequency * rate / 48_000)
            #expect(decibels(fit.residue) < -125, "\(frequency) Hz leaves \(decibels(fit.residue)) dB")
            #expect(abs(decibels(fit.amplitude)) < 0.001, "\(frequency) Hz is at \(fit.amplitude)")
        }
        // The fit has something to find: the tone itself, when it is looked for 20 cents off.
        let off = ToneFit(try tone(997, rate: rate), omega: 2 * .pi * 997 * rate * 1.012 / 48_000)
        #expect(decibels(off.residue) > -20)
    }

    @Test("What would lie above half the sample rate is gone", arguments: [1.25, 1.6, 2, 4])
    func alias(rate: Double) throws {
        let limit = 24_000 / rate
        for step in 0..<6 {
            let frequency = limit + 1 + (24_000 - limit) * Double(step) / 6
            let level = peakDecibels(try tone(frequency, rate: rate, frames: 512))
            #expect(level < -120, "\(frequency) Hz at rate \(rate) leaves \(level) dB")
        }
        #expect(peakDecibels(try tone(limit * 0.85, rate: rate, frames: 512)) > -0.1)
    }

    @Test("Pitch follows the rate within 0.001 cents", arguments: rates)
    func pitch(rate: Double) throws {
        let omega = 2 * .pi * 440 * rate / 48_000
        let heard = try tone(440, rate: rate, frames: 12_000)
        #expect(abs(cents(heard, from: 0, to: 10_000, length: 2_000, omega: omega)) < 0.001)
        let other = cents(heard, from: 0, to: 10_000, length: 2_000, omega: omega * 1.0001)
        #expect(abs(abs(other) - 0.173) < 0.01, "a rate that is off by 1/10,000 is seen: \(other)")
    }

    @Test("A frame is the sum over the sinc, to a float's rounding", arguments: [0.7, 1, 1.3])
    func reference(rate: Double) throws {
        let varispeed = try Varispeed(ProbeSource(frames: 900) { noise(1, $1) }, rate: rate)
        let heard = try play(varispeed, 400)
        for n in stride(from: 0, to: 400, by: 7) {
            let place = Double(n) * rate
            var sum = 0.0
            for k in max(0, Int(place) - 110)...Int(place) + 110 {
                let scale = 1 / max(1, rate)
                sum += Double(noise(1, Int64(k))) * scale * sinc((Double(k) - place) * scale)
            }
            #expect(abs(Double(heard[n]) - sum) < 3e-7, "frame \(n)")
        }
    }

    /// Kaiser's design worked out on its own, the window from its integral form.
    private func sinc(_ t: Double) -> Double {
        guard abs(t) < 80 else { return 0 }
        func bessel(_ x: Double) -> Double {
            var sum = 0.0
            for i in 0..<512 { sum += exp(x * cos(Double.pi * (Double(i) + 0.5) / 512)) }
            return sum / 512
        }
        let beta: Double = 0.1102 * (130 - 8.7)
        let transition: Double = 122 / (2.285 * 160)
        let cutoff = 1 - transition / Double.pi / 2
        let rim: Double = (1 - t * t / 6_400).squareRoot()
        let shape = bessel(beta * rim) / bessel(beta)
        if t == 0 { return shape * cutoff }
        return shape * sin(Double.pi * cutoff * t) / (Double.pi * t)
    }

    @Test("A steady sine makes no step of its own at 50 changes a second")
    func steps() throws {
        let source = ProbeSource.sine(1_000, frames: 1_000_000)
        let varispeed = try Varispeed(source, rate: 1)
        var lottery = Lottery(3)
        var (old, heard): (Double, [Float]) = (1, try play(varispeed, 960))
        for _ in 0..<20 {
            let rate = lottery.rate()
            try varispeed.change(rate: rate, at: varispeed.outputFrame)
            let block = try play(varispeed, 960)
            let own = 2 * sin(.pi * 1_000 * max(rate, old) / 48_000)
            let step = Double(largestStep([heard.last!] + block))
            #expect(step < 1.001 * own, "\(old) to \(rate): \(step), own \(own)")
            heard += block
            old = rate
        }
        // A jump of 5 frames is one that would be seen.
        varispeed.seek(
            outputFrame: varispeed.outputFrame, position: SourcePosition(frame: varispeed.position.frame + 5))
        let jump = Double(largestStep([heard.last!] + (try play(varispeed, 2))))
        #expect(jump > 1.05 * 2 * sin(.pi * 1_000 * old / 48_000))
    }
}
