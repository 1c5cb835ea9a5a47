import Foundation

/// The low-pass that a varispeed looks at its source through: a sinc under a Kaiser window.
///
/// With the sampling theorem's sinc(t) a band-limited signal is known between its frames; the window makes it finite.
/// Length and window follow Kaiser's formulas (Oppenheim and Schafer, "Discrete-Time Signal Processing", 7.6.2):
/// β = 0.1102 (A − 8.7) for a stop band of A dB, and a transition of (A − 8) / (2.285 · 2 · half width) radians. The
/// pass band ends where the transition to half the sample rate begins, so that nothing folds back.
enum SincKernel {
    /// Frames on either side of the centre while the rate is at most 1.
    static let halfWidth = 80
    /// dB below the pass band.
    static let stopBand = 130.0

    /// Values a frame in the table. A cubic through four of them is off by 3/128 · (π/128)⁴ · 1/5, −175 dB.
    private static let resolution = 128

    /// The kernel from its centre to its end, with one value before and three behind for the cubics' sake.
    private static let table: [Float] = (-1...halfWidth * resolution + 3).map {
        Float(value(at: Double($0) / Double(resolution)))
    }

    /// The kernel `t` frames from its centre, exactly.
    static func value(at t: Double) -> Double {
        let beta = 0.1102 * (stopBand - 8.7)
        let transition = (stopBand - 8) / (2.285 * 2 * Double(halfWidth)) / .pi
        let cutoff = 1 - transition / 2
        let x = t / Double(halfWidth)
        guard x.magnitude < 1 else { return 0 }
        let window = bessel(beta * (1 - x * x).squareRoot()) / bessel(beta)
        let angle = .pi * cutoff * t
        return window * cutoff * (angle == 0 ? 1 : sin(angle) / angle)
    }

    /// The modified Bessel function of the first kind and order 0, by its power series.
    private static func bessel(_ x: Double) -> Double {
        var (term, sum, k) = (1.0, 1.0, 1.0)
        while term > sum * 1e-17 {
            term *= (x / 2 / k) * (x / 2 / k)
            sum += term
            k += 1
        }
        return sum
    }

    /// Source frames on either side that count at a rate: the kernel widens with a rate above 1.
    static func reach(rate: Double) -> Int {
        Int((Double(halfWidth) * max(1, rate)).rounded(.up))
    }

    /// Writes the weights of the frames from `1 − reach` to `reach` around a place, `fraction` (0 up to 1) of a frame
    /// after frame 0, into `weights`. At a rate above 1 the cutoff comes down by it, so that what would lie above half
    /// the sample rate is gone.
    static func write(fraction: Double, rate: Double, reach: Int, to weights: UnsafeMutablePointer<Float>) {
        let scale = 1 / max(1, rate)
        unsafe table.withUnsafeBufferPointer { table in
            let base = unsafe table.baseAddress! + 1
            let perFrame = scale * Double(resolution)
            let end = Double(halfWidth * resolution)
            for k in 0..<2 * reach {
                let x = min(end, (Double(k + 1 - reach) - fraction).magnitude * perFrame)
                let cell = Int(x)
                let weight = unsafe cubic(base + cell, Float(x - Double(cell)))
                unsafe weights[k] = Float(scale) * weight
            }
        }
    }

    /// The cubic through the values at −1, 0, 1 and 2, at `t` (Lagrange).
    @inline(__always)
    static func cubic(_ at: UnsafePointer<Float>, _ t: Float) -> Float {
        let (a, b, c, d) = cubicWeights(t)
        return unsafe a * at[-1] + b * at[0] + c * at[1] + d * at[2]
    }

    /// What a cubic through the values at −1, 0, 1 and 2 takes of each at `t`.
    @inline(__always)
    static func cubicWeights(_ t: Float) -> (Float, Float, Float, Float) {
        let (below, above, twice) = (t + 1, t - 1, t - 2)
        return (
            -t * above * twice / 6, below * above * twice / 2, -below * t * twice / 2, below * t * above / 6
        )
    }
}
