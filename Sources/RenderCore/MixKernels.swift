/// What one run of frames measured, before the fader, in the two halves of a stereo signal.
struct Levels: BitwiseCopyable {
    var peakLeft: Float = 0
    var peakRight: Float = 0
    var sumLeft: Float = 0
    var sumRight: Float = 0

    @_noLocks init() {}

    /// Takes in one frame more.
    @_noLocks @inline(__always)
    mutating func add(_ left: Float, _ right: Float) {
        peakLeft = max(peakLeft, left.magnitude)
        peakRight = max(peakRight, right.magnitude)
        sumLeft += left * left
        sumRight += right * right
    }
}

/// What one run of frames whose gains move measured, before and after the fader.
struct RampedLevels: BitwiseCopyable {
    var before = Levels()
    var after = Levels()

    @_noLocks init() {}
}

/// The loops that touch every sample. Each output sample is `bus + source * gain`, in that order and unfused,
/// whatever the path, so that blocks of every size give the same bits.
enum MixKernels {
    @_noLocks @inline(__always)
    private static func load(_ p: UnsafePointer<Float>) -> SIMD8<Float> {
        unsafe UnsafeRawPointer(p).loadUnaligned(as: SIMD8<Float>.self)
    }

    @_noLocks @inline(__always)
    private static func store(_ v: SIMD8<Float>, _ p: UnsafeMutablePointer<Float>) {
        unsafe UnsafeMutableRawPointer(p).storeBytes(of: v, as: SIMD8<Float>.self)
    }

    @_noLocks @inline(__always)
    private static func magnitude(_ v: SIMD8<Float>) -> SIMD8<Float> {
        unsafe unsafeBitCast(
            unsafeBitCast(v, to: SIMD8<UInt32>.self) & SIMD8(repeating: 0x7fff_ffff), to: SIMD8<Float>.self)
    }

    @_noLocks @inline(__always)
    private static func larger(_ a: SIMD8<Float>, _ b: SIMD8<Float>) -> SIMD8<Float> {
        a.replacing(with: b, where: b .> a)
    }

    /// Adds `frames` interleaved stereo frames to a stereo bus at constant gains.
    @_noLocks @inline(__always)
    static func addStereo(
        _ source: UnsafePointer<Float>, to bus: UnsafeMutablePointer<Float>, frames: Int, left: Float,
        right: Float
    ) -> Levels {
        let gain = SIMD8<Float>(left, right, left, right, left, right, left, right)
        var peakA = SIMD8<Float>(repeating: 0)
        var peakB = SIMD8<Float>(repeating: 0)
        var sumA = SIMD8<Float>(repeating: 0)
        var sumB = SIMD8<Float>(repeating: 0)
        let samples = frames &* 2
        var i = 0
        while i &+ 16 <= samples {
            let a = unsafe load(source + i)
            let b = unsafe load(source + i + 8)
            unsafe store(load(UnsafePointer(bus + i)) + a * gain, bus + i)
            unsafe store(load(UnsafePointer(bus + i + 8)) + b * gain, bus + i + 8)
            peakA = larger(peakA, magnitude(a))
            peakB = larger(peakB, magnitude(b))
            sumA += a * a
            sumB += b * b
            i &+= 16
        }
        var levels = folded(larger(peakA, peakB), sumA + sumB)
        while i < samples {
            let l = unsafe source[i]
            let r = unsafe source[i &+ 1]
            unsafe bus[i] = bus[i] + l * left
            unsafe bus[i &+ 1] = bus[i &+ 1] + r * right
            levels.peakLeft = max(levels.peakLeft, l.magnitude)
            levels.peakRight = max(levels.peakRight, r.magnitude)
            levels.sumLeft += l * l
            levels.sumRight += r * r
            i &+= 2
        }
        return levels
    }

    /// Adds `frames` interleaved stereo frames to a stereo bus at gains that each frame has of its own.
    @_noLocks @inline(__always)
    static func addStereo(
        _ source: UnsafePointer<Float>, to bus: UnsafeMutablePointer<Float>, frames: Int,
        left: UnsafePointer<Float>, right: UnsafePointer<Float>
    ) -> RampedLevels {
        var peakBefore = SIMD8<Float>(repeating: 0)
        var peakAfter = SIMD8<Float>(repeating: 0)
        var sumBefore = SIMD8<Float>(repeating: 0)
        var sumAfter = SIMD8<Float>(repeating: 0)
        var n = 0
        while n &+ 4 <= frames {
            let l = unsafe UnsafeRawPointer(left + n).loadUnaligned(as: SIMD4<Float>.self)
            let r = unsafe UnsafeRawPointer(right + n).loadUnaligned(as: SIMD4<Float>.self)
            let gain = SIMD8<Float>(l[0], r[0], l[1], r[1], l[2], r[2], l[3], r[3])
            let x = unsafe load(source + 2 &* n)
            let y = x * gain
            unsafe store(load(UnsafePointer(bus + 2 &* n)) + y, bus + 2 &* n)
            peakBefore = larger(peakBefore, magnitude(x))
            peakAfter = larger(peakAfter, magnitude(y))
            sumBefore += x * x
            sumAfter += y * y
            n &+= 4
        }
        var levels = RampedLevels()
        levels.before = folded(peakBefore, sumBefore)
        levels.after = folded(peakAfter, sumAfter)
        while n < frames {
            let l = unsafe source[2 &* n]
            let r = unsafe source[2 &* n &+ 1]
            let outLeft = unsafe l * left[n]
            let outRight = unsafe r * right[n]
            unsafe bus[2 &* n] = bus[2 &* n] + outLeft
            unsafe bus[2 &* n &+ 1] = bus[2 &* n &+ 1] + outRight
            levels.before.add(l, r)
            levels.after.add(outLeft, outRight)
            n &+= 1
        }
        return levels
    }

    /// The levels of the two halves of a stereo signal, from those of its lanes.
    @_noLocks @inline(__always)
    private static func folded(_ peak: SIMD8<Float>, _ sum: SIMD8<Float>) -> Levels {
        var levels = Levels()
        levels.peakLeft = max(max(peak[0], peak[2]), max(peak[4], peak[6]))
        levels.peakRight = max(max(peak[1], peak[3]), max(peak[5], peak[7]))
        levels.sumLeft = (sum[0] + sum[2]) + (sum[4] + sum[6])
        levels.sumRight = (sum[1] + sum[3]) + (sum[5] + sum[7])
        return levels
    }

    /// Multiplies `values` with `factors`.
    @_noLocks @inline(__always)
    static func scale(_ values: UnsafeMutablePointer<Float>, by factors: UnsafePointer<Float>, count: Int) {
        for i in 0..<count { unsafe values[i] = values[i] * factors[i] }
    }

    /// Writes `values` times `factor` to `products`.
    @_noLocks @inline(__always)
    static func multiply(
        _ values: UnsafePointer<Float>, by factor: Float, into products: UnsafeMutablePointer<Float>,
        count: Int
    ) {
        for i in 0..<count { unsafe products[i] = values[i] * factor }
    }

    /// How many of `count` samples, in steps of `stride`, are above full scale once multiplied with their gains.
    @_noLocks
    static func countClips(
        _ source: UnsafePointer<Float>, stride: Int, count: Int, gains: UnsafePointer<Float>
    ) -> UInt32 {
        var clips: UInt32 = 0
        for i in 0..<count where unsafe (source[i &* stride] * gains[i]).magnitude > 1 { clips &+= 1 }
        return clips
    }

    /// How many of `count` samples, in steps of `stride`, are above full scale once multiplied with `gain`.
    @_noLocks
    static func countClips(_ source: UnsafePointer<Float>, stride: Int, count: Int, gain: Float) -> UInt32 {
        var clips: UInt32 = 0
        for i in 0..<count where unsafe (source[i &* stride] * gain).magnitude > 1 { clips &+= 1 }
        return clips
    }
}
