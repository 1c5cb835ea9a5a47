/// Why a source could not deliver what it was asked for.
public struct SourceFailure: Error, Sendable, CustomStringConvertible {
    /// What failed, on which file, why, and what mends it: one line for a person.
    public let description: String

    /// A failure that says `description`.
    public init(_ description: String) {
        self.description = description
    }
}

/// **Streaming:** the frames of one medium, at the session's sample rate, from any place.
///
/// One thread at a time reads a source; a source may block on a disk. What it delivers depends on the frame
/// numbers alone, never on how a reader divides its requests: reading 100 frames and then 28 gives the bits that
/// reading 128 gives, so that a live run and an offline run hear the same.
public protocol FrameSource: AnyObject {
    /// Samples in a frame, 1 to 64.
    var channelCount: Int { get }

    /// Length in frames at the session's sample rate.
    var frameCount: Int64 { get }

    /// Reads up to `count` frames from `frame` on into `buffer`, interleaved, and returns how many it read.
    ///
    /// Fewer than asked for only at the end of the medium. Reading on from where the last call ended is cheap;
    /// any other place is a seek.
    func read(from frame: Int64, into buffer: UnsafeMutablePointer<Float>, count: Int) throws(SourceFailure)
        -> Int
}
