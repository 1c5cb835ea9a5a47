/// Little-endian integer samples as they lie in a file, and how they become floats.
///
/// Only for machines that are little-endian themselves, as all are on which Backline runs.
enum PackedSamples {
    case int16
    case int24

    /// Bytes of one sample.
    var byteCount: Int {
        switch self {
        case .int16: 2
        case .int24: 3
        }
    }

    /// Converts `count` samples at `packed` to floats of −1 to 1, to the bit as `sf_read_float` does.
    ///
    /// `packed` may lie in `floats`' own storage, as long as it ends where that ends and has one byte before it.
    func widen(_ packed: UnsafeRawPointer, into floats: UnsafeMutablePointer<Float>, count: Int) {
        switch self {
        case .int16: unsafe widen16(packed, into: floats, count: count)
        case .int24: unsafe widen24(packed, into: floats, count: count)
        }
    }

    private func widen16(_ packed: UnsafeRawPointer, into floats: UnsafeMutablePointer<Float>, count: Int) {
        let scale: Float = 0x1p-15
        let out = UnsafeMutableRawPointer(floats)
        var i = 0
        while i + 8 <= count {
            let samples = unsafe packed.loadUnaligned(fromByteOffset: 2 * i, as: SIMD8<Int16>.self)
            let wide = SIMD8<Float>(SIMD8<Int32>(truncatingIfNeeded: samples)) * scale
            unsafe out.storeBytes(of: wide, toByteOffset: 4 * i, as: SIMD8<Float>.self)
            i += 8
        }
        while i < count {
            unsafe floats[i] = Float(packed.loadUnaligned(fromByteOffset: 2 * i, as: Int16.self)) * scale
            i += 1
        }
    }

    private func widen24(_ packed: UnsafeRawPointer, into floats: UnsafeMutablePointer<Float>, count: Int) {
        // Four bytes, read from one byte before a sample, hold it in their upper three.
        let scale: Float = 0x1p-31
        let mask: UInt32 = 0xFFFF_FF00
        let out = UnsafeMutableRawPointer(floats)
        var i = 0
        while i + 4 <= count {
            let words = unsafe SIMD4<UInt32>(
                packed.loadUnaligned(fromByteOffset: 3 * i - 1, as: UInt32.self),
                packed.loadUnaligned(fromByteOffset: 3 * i + 2, as: UInt32.self),
                packed.loadUnaligned(fromByteOffset: 3 * i + 5, as: UInt32.self),
                packed.loadUnaligned(fromByteOffset: 3 * i + 8, as: UInt32.self))
            let wide = SIMD4<Float>(SIMD4<Int32>(truncatingIfNeeded: words & mask)) * scale
            unsafe out.storeBytes(of: wide, toByteOffset: 4 * i, as: SIMD4<Float>.self)
            i += 4
        }
        while i < count {
            let word = unsafe packed.loadUnaligned(fromByteOffset: 3 * i - 1, as: UInt32.self)
            unsafe floats[i] = Float(Int32(bitPattern: word & mask)) * scale
            i += 1
        }
    }
}

/// Replaces NaN and infinite samples by 0 and returns how many there were.
func silenceNonFinite(_ samples: UnsafeMutablePointer<Float>, count: Int) -> Int {
    // 0 times a finite number is 0, anything else is NaN.
    var probe = SIMD16<Float>.zero
    let raw = UnsafeRawPointer(samples)
    var i = 0
    while i + 16 <= count {
        probe += unsafe raw.loadUnaligned(fromByteOffset: 4 * i, as: SIMD16<Float>.self) * 0
        i += 16
    }
    var rest: Float = 0
    while i < count {
        rest += unsafe samples[i] * 0
        i += 1
    }
    if (probe.sum() + rest).isFinite { return 0 }

    var found = 0
    for i in 0..<count where unsafe !samples[i].isFinite {
        unsafe samples[i] = 0
        found += 1
    }
    return found
}
