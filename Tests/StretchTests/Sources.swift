import Foundation
import Stretch

/// Frames from a function of channel and frame, and how they were asked for.
final class ProbeSource: StretchSource {
    let channelCount: Int
    let frameCount: Int64
    private let signal: (_ channel: Int, _ frame: Int64) -> Float
    /// Frames read so far.
    private(set) var framesRead = 0
    /// Whether it was always asked for frames that there are.
    private(set) var wasAskedRightly = true
    /// Thrown when this frame is to be read.
    var failure: (frame: Int64, error: any Error)?

    init(channels: Int = 1, frames: Int64, _ signal: @escaping (_ channel: Int, _ frame: Int64) -> Float) {
        channelCount = channels
        frameCount = frames
        self.signal = signal
    }

    /// One channel of a sine of amplitude 1.
    static func sine(_ frequency: Double, frames: Int64, sampleRate: Double = 48_000) -> ProbeSource {
        ProbeSource(frames: frames) { _, frame in
            Float(sin(2 * .pi * frequency / sampleRate * Double(frame)))
        }
    }

    func read(from frame: Int64, into buffer: UnsafeMutablePointer<Float>, count: Int) throws -> Int {
        if frame < 0 || frame + Int64(count) > frameCount { wasAskedRightly = false }
        if let failure, frame + Int64(count) > failure.frame { throw failure.error }
        for i in 0..<count {
            for channel in 0..<channelCount {
                unsafe buffer[i * channelCount + channel] = signal(channel, frame + Int64(i))
            }
        }
        framesRead += count
        return count
    }
}

/// White noise between −0.5 and 0.5 that depends on the frame's number only.
func noise(_ seed: Int, _ frame: Int64) -> Float {
    var x =
        UInt64(bitPattern: frame &* 2 &+ 1) &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(seed) &* 0xD1B5_4A32_D192_ED03
    x ^= x >> 29
    x &*= 0xBF58_476D_1CE4_E5B9
    x ^= x >> 32
    return Float(x >> 40) * 0x1p-24 - 0.5
}

/// A generator of numbers from 0 to 1 that begins the same every time.
struct Lottery {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed }

    mutating func next() -> Double {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Double(state >> 11) * 0x1p-53
    }

    mutating func rate() -> Double { 0.5 + 1.5 * next() }
}

/// What a tone of amplitude a would leave behind if it were taken out by least squares, and what it was.
struct ToneFit {
    let amplitude: Double
    let phase: Double
    let residue: Double

    /// Fits a sine of `omega` radians a frame to `samples`.
    init(_ samples: some Collection<Float>, omega: Double) {
        var (cc, ss, cs, cy, sy) = (0.0, 0.0, 0.0, 0.0, 0.0)
        let waves = (0..<samples.count).map { (cos(omega * Double($0)), sin(omega * Double($0))) }
        for (y, (c, s)) in zip(samples, waves) {
            let y = Double(y)
            cc += c * c
            ss += s * s
            cs += c * s
            cy += c * y
            sy += s * y
        }
        let determinant = cc * ss - cs * cs
        let a = (cy * ss - sy * cs) / determinant
        let b = (sy * cc - cy * cs) / determinant
        amplitude = (a * a + b * b).squareRoot()
        phase = atan2(a, b)
        residue = zip(samples, waves).reduce(0) { max($0, abs(Double($1.0) - a * $1.1.0 - b * $1.1.1)) }
    }
}

/// How far, in cents, a tone is from `omega` radians a frame: by how its phase has moved between two stretches.
func cents(_ samples: [Float], from: Int, to: Int, length: Int, omega: Double) -> Double {
    let early = ToneFit(samples[from..<from + length], omega: omega).phase
    let late = ToneFit(samples[to..<to + length], omega: omega).phase
    let expected = omega * Double(to - from)
    let moved = (late - early - expected).remainder(dividingBy: 2 * .pi)
    return 1_200 * log2(1 + moved / expected)
}

func decibels(_ amplitude: Double) -> Double { 20 * log10(amplitude) }
