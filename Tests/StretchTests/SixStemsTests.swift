import Foundation
import Stretch
import Testing
import TestSupport

/// BACKLINE_STEM_SECONDS makes it longer: 300 is five minutes.
@Suite("Six stems with the same clicks")
struct SixStemsTests {
    private static let seconds = Int(ProcessInfo.processInfo.environment["BACKLINE_STEM_SECONDS"] ?? "") ?? 12
    private static let clicks = (0..<Int64(seconds * 4)).map { 20_000 + $0 * 24_001 }

    /// A stem of its own tone, in `fast` of its own noise too, and the clicks.
    private func stem(_ number: Int, _ engine: StretchEngine) -> ProbeSource {
        let frequency = 2 * Double.pi * (70 + 130 * Double(number)) / 48_000
        let hiss: Float = engine == .fast ? 0.02 : 0
        let clicks = Set(Self.clicks)
        return ProbeSource(frames: 100_000_000) { _, frame in
            (clicks.contains(frame) ? 1 : 0) + Float(0.1 * sin(frequency * Double(frame)))
                + hiss * noise(number, frame)
        }
    }

    /// R3 at all rates; R2, which misses some attacks (docs/decisions.md), at those up to a quarter away from 1.
    @Test("They come out within 1 ms of each other, and where the rate has brought them", arguments: engines)
    func together(engine: StretchEngine) throws {
        let stems = (0..<6).map { stem($0, engine) }
        let sources: [any StretchSource] = engine == .fine ? stems : [StemBundle(stems)]
        let stretchers = try sources.map { try Stretcher($0, engine, rate: 0.9) }
        let reach = engine == .fine ? log(2) : log(1.25)
        var heard = [[Float]](repeating: [], count: 6)
        var places: [Double] = []
        // What was asked for, added up: each rate is gone to over a ramp.
        var (integral, worst, rate, lottery) = (0.0, 0.0, 0.9, Lottery(21))
        for _ in 0..<Self.seconds {
            let at = stretchers.map(\.nextChange).max()!
            let next = exp(reach * (2 * lottery.next() - 1))
            let first = stretchers[0].outputFrame
            for (i, stretcher) in stretchers.enumerated() {
                try stretcher.change(rate: next, at: at)
                let piece = try play(stretcher, 48_000)
                for k in 0..<stretcher.channelCount {
                    heard[i + k] += stride(from: k, to: piece.count, by: stretcher.channelCount).map {
                        piece[$0]
                    }
                }
            }
            places += (0..<48_000).map { stretchers[0].position(of: first + $0).frames }
            let ramp = Double(engine.rampFrames(from: rate, to: next))
            integral += Double(at - first) * rate + ramp * (rate + next) / 2 + (next - rate) / 2
            integral += (48_000 - Double(at - first) - ramp) * next
            rate = next
            worst = max(worst, abs(stretchers[0].position(of: first + 48_000).frames - integral))
        }
        #expect(worst < 1, "the place is the integral of the rate: \(worst) frames off")
        var (spreads, late, place) = ([Int](), 0.0, 0)
        for click in Self.clicks {
            while place < places.count, places[place] < Double(click) { place += 1 }
            guard place > 4_000, place < heard[0].count - 4_000 else { continue }
            let peaks = heard.map { Self.peak($0, near: place) - place }
            spreads.append(peaks.max()! - peaks.min()!)
            late += Double(peaks.reduce(0, +)) / 6
            // The control: one stem a millisecond and a half late is seen.
            if click == Self.clicks[2] {
                let delayed = Array(heard[1].dropFirst(72))
                #expect(abs(Self.peak(delayed, near: place) - place - peaks[1] + 72) <= 2)
            }
        }
        let apart = spreads.filter { $0 > 48 }.count
        let missed = engine == .fine ? 0 : spreads.count / 25
        #expect(spreads.count > Self.seconds && apart <= missed, "\(apart) of \(spreads.count) clicks apart")
        #expect(abs(late / Double(spreads.count)) < 200, "\(late / Double(spreads.count)) frames late")
        let median = spreads.sorted()[spreads.count / 2]
        print(
            "\(engine): \(spreads.count) clicks, median \(median), most \(spreads.max()!) frames, \(apart) over 48"
        )
    }

    /// Where a click comes out that is expected at `place`: what is loudest above 3 kHz.
    private static func peak(_ stem: [Float], near place: Int) -> Int {
        let high = highPass(Array(stem[place - 955...place + 955]), cutoff: 3_000)
        return place - 700 + high.indices.max { high[$0].magnitude < high[$1].magnitude }!
    }
}
