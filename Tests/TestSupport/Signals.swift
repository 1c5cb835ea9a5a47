import EngineHost
import Foundation

/// A source that is computed, frame by frame.
public final class SignalSource: FrameSource {
    /// Samples in a frame.
    public let channelCount: Int
    /// Frames from the first to the last.
    public let frameCount: Int64
    private let value: (_ frame: Int64, _ channel: Int) -> Float

    /// A source of `frames` frames whose samples `value` computes.
    public init(channels: Int = 2, frames: Int64, value: @escaping (_ frame: Int64, _ channel: Int) -> Float)
    {
        channelCount = channels
        frameCount = frames
        self.value = value
    }

    /// Computes `count` frames from `frame` on.
    public func read(
        from frame: Int64, into buffer: UnsafeMutablePointer<Float>, count: Int
    ) throws(SourceFailure) -> Int {
        let frames = Int(min(Int64(count), max(0, frameCount - frame)))
        for n in 0..<frames {
            for c in 0..<channelCount { unsafe buffer[n * channelCount + c] = value(frame + Int64(n), c) }
        }
        return frames
    }

    /// Every sample is its frame's number, modulo 65,536, over 65,536: exact in float, and it tells its place.
    public static func ramp(channels: Int = 2, frames: Int64) -> SignalSource {
        SignalSource(channels: channels, frames: frames) { frame, _ in Float(frame % 65_536) / 65_536 }
    }

    /// One sample of `height` at `place`, zero elsewhere.
    public static func impulse(at place: Int64, height: Float = 1, channels: Int = 2, frames: Int64)
        -> SignalSource
    {
        SignalSource(channels: channels, frames: frames) { frame, _ in frame == place ? height : 0 }
    }

    /// A sine, the same in all channels.
    public static func sine(
        hertz: Double, peak: Float = 1, sampleRate: Int = 48_000, channels: Int = 2, frames: Int64
    ) -> SignalSource {
        SignalSource(channels: channels, frames: frames) { frame, _ in
            peak * Float(sin(2 * .pi * hertz * Double(frame) / Double(sampleRate)))
        }
    }

    /// White noise between −`peak` and `peak`, the same for the same seed, different in each channel.
    public static func noise(seed: UInt64, peak: Float = 0.5, channels: Int = 2, frames: Int64)
        -> SignalSource
    {
        SignalSource(channels: channels, frames: frames) { frame, channel in
            var generator = SplitMix(seed: seed &* 1_000_003 &+ UInt64(frame) &* 64 &+ UInt64(channel))
            return (Float(generator.next() >> 40) / Float(1 << 23) - 1) * peak
        }
    }
}

/// A small, fast generator of random numbers (Steele, Lea and Flood's SplitMix64): the same for the same seed.
public struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    /// A generator that gives the same numbers for the same seed.
    public init(seed: UInt64) {
        state = seed
    }

    /// The next number.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
