/// **Streaming:** a source whose first moments are kept in memory, so that a start and a return to the beginning
/// need no disk.
public final class PrimedSource: FrameSource {
    private let base: any FrameSource
    private let first: Int64
    private let head: [Float]
    private let headFrames: Int
    /// What went wrong behind the head, for the next read there.
    private var failure: SourceFailure?

    /// Samples in a frame.
    public let channelCount: Int
    /// Length in frames at the session's sample rate.
    public let frameCount: Int64

    /// Keeps up to `frames` frames of `base` from `first` on. The first read behind them goes on without a seek.
    public init(_ base: any FrameSource, from first: Int64 = 0, frames: Int) throws(SourceFailure) {
        self.base = base
        self.first = first
        channelCount = base.channelCount
        frameCount = base.frameCount
        let wanted = Int(min(Int64(frames), max(0, base.frameCount - first)))
        var samples = [Float](repeating: 0, count: wanted * base.channelCount)
        var got = 0
        var failure: SourceFailure?
        unsafe samples.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return }
            do throws(SourceFailure) {
                while got < wanted {
                    let read = unsafe try base.read(
                        from: first + Int64(got), into: start + got * base.channelCount, count: wanted - got)
                    if read == 0 { break }
                    got += read
                }
            } catch {
                failure = error
            }
        }
        if let failure, got == 0 { throw failure }
        self.failure = failure
        head = samples
        headFrames = got
    }

    /// Reads from memory where it can.
    public func read(
        from frame: Int64, into buffer: UnsafeMutablePointer<Float>, count: Int
    ) throws(SourceFailure) -> Int {
        let inHead = frame - first
        guard inHead >= 0, inHead < Int64(headFrames) else {
            if let failure, inHead >= Int64(headFrames) { throw failure }
            return unsafe try base.read(from: frame, into: buffer, count: count)
        }
        let frames = min(count, headFrames - Int(inHead))
        unsafe head.withUnsafeBufferPointer { samples in
            unsafe buffer.update(
                from: samples.baseAddress! + Int(inHead) * channelCount, count: frames * channelCount)
        }
        guard frames < count, failure == nil else { return frames }
        do throws(SourceFailure) {
            return unsafe try frames
                + base.read(
                    from: frame + Int64(frames), into: buffer + frames * channelCount, count: count - frames)
        } catch {
            // The head is still good; the next read fails.
            failure = error
            return frames
        }
    }
}
