import Foundation
import Stretch
import Testing
import TestSupport

@Suite("A tape's rate: where every frame lies")
struct VarispeedPlaceTests {
    @Test("Lengths are the source's over the rate, rounded half to even")
    func lengths() throws {
        let wanted: [(Int64, Double, Int)] = [
            (0, 0.5, 0), (1, 2, 0), (3, 2, 2), (5, 2, 2), (7, 2, 4), (3, 1.2, 2), (9, 1.2, 8),
            (1_000, 0.8, 1_250),
            (1_001, 1.25, 801), (777, 0.5, 1_554), (1, 0.25, 4), (1_003, 1.7, 590),
        ]
        for (frames, rate, length) in wanted {
            let varispeed = try Varispeed(ProbeSource(frames: frames) { _, _ in 1 }, rate: rate)
            #expect(varispeed.endFrame == length, "\(frames) frames at \(rate)")
            #expect(try play(varispeed).count == length, "\(frames) frames at \(rate)")
        }
        #expect(RateRange.outputFrames(of: 5, rate: 2) != Int64((5.0 / 2).rounded()), "half goes to even")
    }

    @Test("Frame 0 lies on frame 0, and a click where it belongs", arguments: [0.5, 0.8, 1.25, 2])
    func clicks(rate: Double) throws {
        let source = ProbeSource(frames: 2_003) { $1 == 0 || $1 == 1_000 || $1 == 2_000 ? 1 : 0 }
        let heard = try play(try Varispeed(source, rate: rate))
        for frame in [0, 1_000, 2_000] {
            let at = Int(Double(frame) / rate)
            let near = max(0, at - 20)...min(heard.count - 1, at + 20)
            #expect(near.max { heard[$0] < heard[$1] } == at, "the click at \(frame)")
        }
        #expect(source.wasAskedRightly)
    }

    @Test("The same bits at every block size, through changes")
    func blocks() throws {
        func run(_ block: () -> Int) throws -> [Float] {
            let source = ProbeSource(channels: 3, frames: 3_000) { noise($0, $1) }
            let varispeed = try Varispeed(source, rate: 0.8)
            try varispeed.change(rate: 1.7, at: 333)
            try varispeed.change(rate: 0.9, at: 1_001)
            try varispeed.change(rate: 1.1, at: 1_100)
            return try play(varispeed, block: block)
        }
        let whole = try run { 10_000 }
        for size in [1, 63, 64, 256] { expectIdentical(try run { size }, whole, "blocks of \(size)") }
        var lottery = Lottery(5)
        expectIdentical(try run { 1 + Int(lottery.next() * 300) }, whole, "random blocks")
    }

    @Test("A restart at any output frame gives the bits of playing through", arguments: [0.8, 1.37])
    func restarts(rate: Double) throws {
        let source = ProbeSource(channels: 2, frames: 4_000) { noise($0, $1) }
        let whole = try play(try Varispeed(source, rate: rate))
        for frame in [0, 1, 400, 1_999, 2_700] {
            let varispeed = try Varispeed(source, rate: 2)
            _ = try play(varispeed, 100)
            try varispeed.change(rate: rate, at: 100)
            varispeed.seek(
                outputFrame: Int64(frame), position: SourcePosition(outputFrame: Int64(frame), rate: rate))
            expectIdentical(try play(varispeed), Array(whole[(2 * frame)...]), "from frame \(frame)")
        }
    }

    @Test("The place is the integral of the rate, and the sound is there, through random changes")
    func position() throws {
        // The phase of a slow sine and cosine says where a frame lies.
        let period = 4_096.0
        let source = ProbeSource(channels: 2, frames: 10_000_000) { channel, frame in
            let phase = 2 * Double.pi / period * Double(frame)
            return Float(channel == 0 ? cos(phase) : sin(phase))
        }
        let varispeed = try Varispeed(source, rate: 1)
        var lottery = Lottery(9)
        varispeed.seek(outputFrame: 0, position: SourcePosition(frame: 5_000))
        var (places, integral, rate) = (
            [SourcePosition](repeating: .init(frame: 0), count: 960), 5_000.0, 1.0
        )
        var heard = [Float](repeating: 0, count: 1_920)
        for _ in 0..<25 {
            let next = lottery.rate()
            try varispeed.change(rate: next, at: varispeed.outputFrame)
            _ = try unsafe heard.withUnsafeMutableBufferPointer { heard in
                try unsafe places.withUnsafeMutableBufferPointer {
                    try unsafe varispeed.process(
                        into: heard.baseAddress!, count: 960, positions: $0.baseAddress!)
                }
            }
            for i in stride(from: 0, to: 960, by: 60) {
                let phase = atan2(Double(heard[2 * i + 1]), Double(heard[2 * i]))
                let off = (phase * period / (2 * .pi) - places[i].frames).remainder(dividingBy: period)
                #expect(abs(off) < 0.001, "at \(places[i])")
            }
            // Linear over the ramp: its frames get the mean of both rates, and half a step of the difference.
            let ramp = Double(RatePath.rampFrames)
            integral += ramp * (rate + next) / 2 + (next - rate) / 2 + (960 - ramp) * next
            rate = next
            #expect(abs(varispeed.position.frames - integral) < 1e-6)
        }
    }

    @Test("Five minutes of changes lose nothing of the place")
    func exactness() throws {
        // 50 changes a second in steps of 1/64: sums of these are exact in a Double, too.
        let silent = ProbeSource(frames: .max) { _, _ in 0 }
        var motion: (exact: Double, varispeed: Varispeed) = (0, try Varispeed(silent, rate: 1))
        var lottery = Lottery(2)
        for _ in 0..<3 {
            motion.varispeed.seek(outputFrame: 14_400_000, position: SourcePosition(frame: 14_400_000))
            motion.exact = 14_400_000
            var rate = motion.varispeed.rateNow
            for _ in 0..<4 {
                let next = (32 + (lottery.next() * 64).rounded()) / 64
                try motion.varispeed.change(rate: next, at: motion.varispeed.outputFrame)
                _ = try play(motion.varispeed, 300)
                motion.exact += 128 * (rate + next) + (next - rate) / 2 + 44 * next
                rate = next
            }
            #expect(motion.varispeed.position.frames == motion.exact)
        }
    }

    @Test("Rates out of range are refused, and a source's error passes through")
    func errors() throws {
        let source = ProbeSource(frames: 4_000) { _, _ in 1 }
        for rate in [0.249, 4.1, -1, .nan, .infinity] {
            #expect(throws: StretchError.self) { try Varispeed(source, rate: rate) }
        }
        let varispeed = try Varispeed(source, rate: 1.5)
        #expect(throws: StretchError.rate(5)) { try varispeed.change(rate: 5, at: 0) }
        source.failure = (2_000, StretchError.fixedPitch)
        #expect(throws: StretchError.fixedPitch) { try play(varispeed) }
        #expect(varispeed.outputFrame > 0 && varispeed.outputFrame < 1_333)
        source.failure = nil
        let rest = try play(varispeed)
        #expect(varispeed.outputFrame == 2_667 && rest.count < 2_667, "it goes on where it was")
    }
}
