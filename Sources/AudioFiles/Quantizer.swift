/// Makes integers of floats: scales by 2^(bits − 1), adds dither if asked to, rounds half to even, and clips.
struct Quantizer {
    /// Samples so far that lay outside the range of the integers.
    private(set) var clippedSampleCount: Int64 = 0

    private let scale: Double
    private let highest: Double
    private let shift: Int32
    private let dithers: Bool
    private var dither = TriangularDither()

    /// Adding it to a number below 2^51 rounds that half to even, and leaves the integer in the low bits.
    private static let rounder = 0x1.8p52

    /// Integers of `bits` bits, 2 to 32; `dithers` says whether to add dither before rounding.
    init(bits: Int, dithers: Bool) {
        scale = Double(sign: .plus, exponent: bits - 1, significand: 1)
        highest = scale - 1
        shift = Int32(32 - bits)
        self.dithers = dithers
    }

    /// Converts `count` samples; the integers fill 32 bits from above. A NaN becomes 0.
    mutating func quantize(
        _ samples: UnsafePointer<Float>, into integers: UnsafeMutablePointer<Int32>, count: Int
    ) {
        let clipsFrom = highest + 0.5
        let clipsBelow = -scale - 0.5
        var clipped: Int64 = 0
        for i in 0..<count {
            let exact = unsafe Double(samples[i]) * scale
            clipped &+= exact >= clipsFrom || exact < clipsBelow ? 1 : 0
            let noisy = dithers ? exact + dither.next() : exact
            let held = noisy > highest ? highest : noisy < -scale ? -scale : noisy == noisy ? noisy : 0
            unsafe integers[i] = Int32(truncatingIfNeeded: (held + Self.rounder).bitPattern) &<< shift
        }
        clippedSampleCount += clipped
    }
}

/// White noise of a triangular distribution between −1 and 1: the sum of two uniform ones, so that the error of
/// rounding to steps of 1 has neither a mean nor a power that follows the signal (Lipshitz et al., JAES 40/5, 1992).
///
/// It starts the same every time, so that the same render gives the same file.
struct TriangularDither {
    private var state: UInt64 = 0x4261_636B_6C69_6E65

    /// The next value, in steps of the integers.
    mutating func next() -> Double {
        state ^= state << 13  // xorshift64, Marsaglia 2003
        state ^= state >> 7
        state ^= state << 17
        let product = state &* 0x2545_F491_4F6C_DD1D
        let first = Double(product >> 32)
        let second = Double(product & 0xFFFF_FFFF)
        return (first + second) * 0x1p-32 - 1
    }
}
