import Foundation
import Stretch
import Testing
import TestSupport

@Suite("Stems that are stretched together")
struct StemTests {
    private static let clicks = stride(from: Int64(9_000), to: 130_000, by: 11_003).map { $0 }

    /// A stem of its own material, with clicks that are in all of them.
    private func stem(_ number: Int) -> ProbeSource {
        ProbeSource(frames: 150_000) { _, frame in
            let tone = 0.05 * sin(2 * Double.pi * (70 + 130 * Double(number)) / 48_000 * Double(frame))
            let click: Float = Self.clicks.contains(frame) ? 1 : 0
            return click + 0.02 * Float(number) * noise(number, frame) + Float(tone)
        }
    }

    /// The same changes for all, 50 a second, each given when it can still be kept by all.
    private func playTogether(_ stretchers: [Stretcher], seconds: Int, check: (Stretcher) -> Void = { _ in })
        throws -> [[Float]]
    {
        var lottery = Lottery(11)
        var heard = [[Float]](repeating: [], count: stretchers.count)
        for _ in 0..<seconds * 50 {
            let at = stretchers.map(\.nextChange).max()!
            let rate = lottery.rate()
            for (i, stretcher) in stretchers.enumerated() {
                try stretcher.change(rate: rate, at: at)
                heard[i] += try play(stretcher, 960)
                check(stretcher)
            }
        }
        return heard
    }

    @Test("Clicks stay together through 50 changes a second, each track by itself", arguments: engines)
    func together(engine: StretchEngine) throws {
        let stems = (0..<3).map(stem)
        // R3 an instance a track, R2 one for all.
        let sources: [any StretchSource] = engine == .fine ? stems : [StemBundle(stems)]
        let stretchers = try sources.map { try Stretcher($0, engine, rate: 1) }
        var heard = try playTogether(stretchers, seconds: 2) { stretcher in
            let frame = stretcher.outputFrame
            #expect(stretcher.position(of: frame) == stretchers[0].position(of: frame))
        }
        #expect(Set(stretchers.map(\.outputFrame)) == [96_000])
        if engine == .fast {
            heard = (0..<3).map { stem in stride(from: stem, to: heard[0].count, by: 3).map { heard[0][$0] } }
        }
        // The stretch that best lays one stem's clicks on another's: the tones and the noise are far below.
        for other in heard.dropFirst() {
            let shift = bestShift(heard[0], other)
            #expect(abs(shift) <= 48)
        }
        let shifted = bestShift(heard[0], [Float](repeating: 0, count: 60) + heard[1])
        #expect(abs(shifted - 60) <= 48, "60 frames are seen: \(shifted)")
    }

    private func bestShift(_ a: [Float], _ b: [Float]) -> Int {
        let attacks = (10_000..<90_000).filter { a[$0].magnitude > 0.25 }
        return (-90...90).max { one, other in
            func likeness(_ shift: Int) -> Float { attacks.reduce(0) { $0 + a[$1] * b[$1 + shift] } }
            return likeness(one) < likeness(other)
        }!
    }

    @Test("The sound follows the integral of the rate", arguments: engines)
    func follows(engine: StretchEngine) throws {
        let stretcher = try Stretcher(stem(0), engine, rate: 1)
        // Changes, and then a rate that stands still: its clicks are where the integral says.
        var heard = try playTogether([stretcher], seconds: 1)[0]
        try stretcher.change(rate: 1, at: 0)
        let settled = Int(stretcher.outputFrame) + 12_000
        let place = stretcher.position(of: Int64(settled)).frames
        heard += try play(stretcher, 60_000)
        #expect(abs(stretcher.position(of: Int64(settled)).frames - place) <= 4_096)
        for click in Self.clicks {
            let at = Int((Double(click) - stretcher.position(of: stretcher.outputFrame).frames).rounded())
            let index = heard.count + at
            guard index > settled, index < heard.count - 400 else { continue }
            let peak = (index - 400...index + 400).max { heard[$0].magnitude < heard[$1].magnitude }!
            #expect(abs(peak - index) <= 48, "the click at \(click) is \(peak - index) frames off")
        }
    }

    @Test("A change is heard half a window after what has been taken out", arguments: engines)
    func latency(engine: StretchEngine) throws {
        let source = ProbeSource.sine(440, frames: 200_000)
        let stretcher = try Stretcher(source, engine, rate: 0.8)
        _ = try play(stretcher, 10_000)
        try stretcher.change(rate: 1, at: 0)  // now hop by hop
        _ = try play(stretcher, 10_000)
        let effect = try stretcher.change(rate: 1.25, at: 0)
        let half: Int64 = engine == .fine ? 2_048 : 1_024
        #expect(effect >= stretcher.outputFrame + half && effect < stretcher.outputFrame + half + 400)
        let before = stretcher.position(of: effect).frames
        _ = try play(stretcher, 4_000)
        let after = stretcher.position(of: stretcher.outputFrame).frames
        // Linear over the ramp: half a step of the difference is all that a whole number of frames adds.
        let ramp = Double(engine.rampFrames(from: 1, to: 1.25))
        let expected = Double(stretcher.outputFrame - effect) * 1.25 - (ramp - 1) / 2 * 0.25
        #expect(abs(after - before - expected) < 1e-6)
    }

    @Test("A steady sine makes no step of its own at a change", arguments: engines)
    func steps(engine: StretchEngine) throws {
        let stretcher = try Stretcher(ProbeSource.sine(440, frames: 400_000), engine, rate: 1)
        _ = try play(stretcher, 4_000)
        let heard = try playTogether([stretcher], seconds: 2)[0]
        let own = 2 * sin(Double.pi * 440 / 48_000)
        #expect(Double(largestStep(heard)) < 1.05 * own)
        #expect(Double(largestStep(Array(heard[..<40_000] + heard[40_037...]))) > 1.05 * own, "a cut is seen")
    }

    @Test("A bundle's channels are its sources', the short ones ending in silence")
    func bundle() throws {
        let bundle = StemBundle([
            ProbeSource(channels: 2, frames: 3) { Float($0) + 10 * Float($1) },
            ProbeSource(channels: 1, frames: 5) { _, frame in Float(-1 - frame) },
        ])
        var frames = [Float](repeating: .nan, count: 12)
        _ = try unsafe frames.withUnsafeMutableBufferPointer {
            try unsafe bundle.read(from: 1, into: $0.baseAddress!, count: 4)
        }
        #expect(bundle.channelCount == 3 && bundle.frameCount == 5)
        #expect(frames == [10, 11, -2, 20, 21, -3, 0, 0, -4, 0, 0, -5])
    }
}
