/// **Streaming:** what is played at another rate: frames, from any place.
///
/// One thread at a time reads a source. What it delivers depends on the frame numbers alone, never on how a reader
/// divides its requests.
public protocol StretchSource: AnyObject {
    /// Samples in a frame, at least 1.
    var channelCount: Int { get }

    /// Length in frames. `Int64.max` for what goes on for ever.
    var frameCount: Int64 { get }

    /// Reads up to `count` frames from `frame` on into `buffer`, interleaved, and returns how many it read; those that
    /// it does not deliver are taken for silence.
    ///
    /// It is asked for frames from 0 to `frameCount` only, in order, except after a seek.
    func read(from frame: Int64, into buffer: UnsafeMutablePointer<Float>, count: Int) throws -> Int
}
