import CStretchKernels

/// The kernel's weights for one rate, at evenly spaced fractions of a frame.
///
/// As long as a rate holds, weights come from here, four rows and a cubic through them, at a sixth of the price of
/// making them anew.
@safe final class KernelRows {
    /// Source frames on either side.
    let reach: Int
    /// Weights in a row, `2 · reach` and zeros up to a multiple of the vectors' width.
    let width: Int

    private let rate: Double
    private let rows: UnsafeMutablePointer<Float>

    /// Rows a frame. A cubic through four of them is as good as the kernel's own table.
    private static let phases = 128

    /// Whether these rows are those of `rate`: all up to 1 are alike.
    func fit(_ rate: Double) -> Bool { max(1, rate) == self.rate }

    init(rate: Double) {
        self.rate = max(1, rate)
        reach = SincKernel.reach(rate: rate)
        width = Self.width(reach: reach)
        let count = (Self.phases + 3) * width
        unsafe rows = .allocate(capacity: count)
        unsafe rows.initialize(repeating: 0, count: count)
        for row in 0..<Self.phases + 3 {
            let fraction = Double(row - 1) / Double(Self.phases)
            unsafe SincKernel.write(
                fraction: fraction, rate: self.rate, reach: reach, to: rows + row * width)
        }
    }

    deinit { unsafe rows.deallocate() }

    /// Samples that a row takes up, in whole vectors.
    static func width(reach: Int) -> Int { (2 * reach + 7) / 8 * 8 }

    /// Writes the weights at `fraction` · 2⁻⁶⁴ of a frame into `weights`, `width` of them.
    func write(fraction: UInt64, to weights: UnsafeMutablePointer<Float>) {
        let scaled = Double(fraction) * 0x1p-64 * Double(Self.phases)
        let row = min(Int(scaled), Self.phases - 1)
        let (a, b, c, d) = SincKernel.cubicWeights(Float(scaled - Double(row)))
        let factors: InlineArray<4, Float> = [a, b, c, d]
        unsafe factors.span.withUnsafeBufferPointer {
            unsafe stretch_mix_rows(rows + row * width, $0.baseAddress!, weights, width)
        }
    }
}
