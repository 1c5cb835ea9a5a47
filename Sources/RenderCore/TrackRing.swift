/// Where the samples of one track's ring lie: frames in pages, with the same page of other tracks in between.
///
/// All tracks are at the same stream frame, so what a block needs of all of them lies side by side, and the mixer
/// walks through memory in one direction (docs/realtime.md). Both lanes count as one row of frames.
@safe
public struct TrackRing: BitwiseCopyable {
    /// Frames in a page: none of a block's runs goes beyond one.
    public static var pageFrames: Int { @_noLocks get { 64 } }

    private let samples: UnsafeMutablePointer<Float>
    private let pageStride: Int32
    private let channels: Int32

    /// Samples in a frame.
    public var channelCount: Int { @_noLocks get { Int(channels) } }

    /// **Control:** a ring whose first page is at `samples`, and each further one `pageStride` samples on.
    @_noLocks public init(samples: UnsafeMutablePointer<Float>, pageStride: Int, channelCount: Int) {
        unsafe self.samples = samples
        self.pageStride = Int32(pageStride)
        channels = Int32(channelCount)
    }

    /// Where frame `index` of both lanes is; those behind it follow up to the end of its page.
    @_noLocks @inline(__always)
    public func frame(_ index: Int) -> UnsafeMutablePointer<Float> {
        let page = (index / Self.pageFrames) &* Int(pageStride)
        let inPage = (index & (Self.pageFrames &- 1)) &* Int(channels)
        return unsafe samples + (page &+ inPage)
    }
}
