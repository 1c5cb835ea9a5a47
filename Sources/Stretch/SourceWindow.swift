/// The part of a source that is being looked at: one run of samples a channel, silence outside the source.
@safe final class SourceWindow {
    let channelCount: Int
    private let source: any StretchSource
    private let capacity: Int
    private let samples: UnsafeMutablePointer<Float>
    private let piece: UnsafeMutablePointer<Float>

    // Frames `start ..< start + count` are there.
    private var start: Int64 = 0
    private var count = 0

    /// Frames that are read at a time, unless more are needed.
    private static let pieceFrames = 512

    /// A window for up to `span` frames at a time.
    init(_ source: any StretchSource, span: Int) {
        self.source = source
        channelCount = source.channelCount
        capacity = span + 8 * Self.pieceFrames
        unsafe samples = .allocate(capacity: capacity * channelCount)
        unsafe samples.initialize(repeating: 0, count: capacity * channelCount)
        unsafe piece = .allocate(capacity: Self.pieceFrames * channelCount)
        unsafe piece.initialize(repeating: 0, count: Self.pieceFrames * channelCount)
    }

    deinit {
        unsafe samples.deallocate()
        unsafe piece.deallocate()
    }

    /// Forgets what is there.
    func empty() {
        count = 0
    }

    /// Has frames `from ..< to` there.
    func cover(_ from: Int64, _ to: Int64) throws {
        if from < start || from > start + Int64(count) { (start, count) = (from, 0) }
        if count == 0 { start = from }
        guard to > start + Int64(count) else { return }
        if to + Int64(Self.pieceFrames) > start + Int64(capacity) { drop(until: from) }
        while start + Int64(count) < to { try readPiece() }
    }

    /// Frame `frame` of a channel, which is there, and those after it. Up to seven beyond what is there may be looked
    /// at, and mean nothing.
    func pointer(_ channel: Int, at frame: Int64) -> UnsafePointer<Float> {
        unsafe UnsafePointer(samples + channel * capacity + Int(frame - start))
    }

    private func drop(until frame: Int64) {
        let dropped = Int(frame - start)
        guard dropped > 0 else { return }
        count -= dropped
        start = frame
        for channel in 0..<channelCount {
            let at = unsafe samples + channel * capacity
            unsafe at.update(from: at + dropped, count: count)
        }
    }

    private func readPiece() throws {
        let frames = Self.pieceFrames
        let from = start + Int64(count)
        let before = Int(min(Int64(frames), max(0, -from)))
        let wanted = Int(min(Int64(frames - before), max(0, source.frameCount - max(0, from))))
        let read = wanted == 0 ? 0 : try unsafe source.read(from: max(0, from), into: piece, count: wanted)
        for channel in 0..<channelCount {
            let out = unsafe samples + channel * capacity + count
            unsafe out.update(repeating: 0, count: frames)
            for i in 0..<read { unsafe out[before + i] = piece[i * channelCount + channel] }
        }
        count += frames
    }
}
