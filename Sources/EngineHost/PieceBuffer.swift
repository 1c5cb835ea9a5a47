/// Where a streaming thread has a piece of a track's stream read to, before it goes into the pages of the ring.
///
/// One thread's own; small enough for the processor's cache.
@safe
final class PieceBuffer {
    /// Frames that a piece has at most.
    static let frames = 4096

    private var samples: UnsafeMutableBufferPointer<Float> = .allocate(capacity: 2 * frames)

    deinit {
        unsafe samples.deallocate()
    }

    /// Memory for a piece with `channelCount` channels, undefined until it is written; valid until the next call.
    func piece(channelCount: Int) -> UnsafeMutablePointer<Float> {
        if unsafe samples.count < Self.frames * channelCount {
            unsafe samples.deallocate()
            unsafe samples = .allocate(capacity: Self.frames * channelCount)
        }
        return unsafe samples.baseAddress!
    }
}
