import Glibc

/// How much two pieces of sound resemble each other, whatever their shift.
enum Likeness {
    /// Samples that are compared after averaging.
    private static let points = 90
    /// What so few samples of unrelated noise resemble each other by chance.
    private static let chance = 0.4

    /// The largest normalised cross-correlation of the two pieces, 0 to 1, over shifts of up to a third of their
    /// length, of all channels together and of averages over neighbouring frames.
    ///
    /// Two places of one held tone are alike whatever their phases, and cross over at equal gain, which never
    /// exceeds either; unlike material crosses over at equal power.
    static func between(
        _ first: UnsafePointer<Float>, at offset: Int, and second: UnsafePointer<Float>, ringFrames: Int,
        frames: Int, channelCount: Int
    ) -> Double {
        let a = unsafe averages(first, at: offset, ringFrames, frames, channelCount)
        let b = unsafe averages(second, at: 0, ringFrames, frames, channelCount)
        var best = 0.0
        for shift in -points / 3...points / 3 {
            let range = max(0, -shift)..<min(points, points - shift)
            var product = 0.0
            var powerA = 0.0
            var powerB = 0.0
            for i in range {
                product += a[i] * b[i + shift]
                powerA += a[i] * a[i]
                powerB += b[i + shift] * b[i + shift]
            }
            let power = powerA * powerB
            if power > 0 { best = max(best, product.magnitude / power.squareRoot()) }
        }
        return max(0, min(1, (best - chance) / (1 - chance)))
    }

    private static func averages(
        _ ring: UnsafePointer<Float>, at offset: Int, _ ringFrames: Int, _ frames: Int, _ channelCount: Int
    ) -> [Double] {
        let step = max(1, frames / points)
        return (0..<points).map { point in
            var sum = 0.0
            for n in 0..<step {
                let frame = (offset + point * step + n) & (ringFrames - 1)
                for c in 0..<channelCount { unsafe sum += Double(ring[frame * channelCount + c]) }
            }
            return sum
        }
    }
}
