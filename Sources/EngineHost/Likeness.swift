import RenderCore

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
    ///
    /// The pieces are `frames` frames of `ring`; `first` and `second` say where in it each frame of theirs is.
    static func between(
        _ ring: TrackRing, from first: (Int64) -> Int, and second: (Int64) -> Int, frames: Int
    ) -> Double {
        let a = averages(ring, first, frames)
        let b = averages(ring, second, frames)
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

    private static func averages(_ ring: TrackRing, _ place: (Int64) -> Int, _ frames: Int) -> [Double] {
        let step = max(1, frames / points)
        return (0..<points).map { point in
            var sum = 0.0
            for n in 0..<step {
                let frame = unsafe ring.frame(place(Int64(point * step + n)))
                for c in 0..<ring.channelCount { unsafe sum += Double(frame[c]) }
            }
            return sum
        }
    }
}
