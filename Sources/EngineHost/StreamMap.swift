/// How the frames of a stream lie on the timeline: from a start on, and round a loop range if there is one.
public struct StreamMap: Sendable, Equatable {
    /// The timeline position of stream frame 0, in frames.
    public let start: Int64
    /// The range that repeats once the stream has come to its end; not empty, and it ends after `start`.
    public let loop: Range<Int64>?

    /// A stream from `start`; a loop range that is empty, or already over at `start`, is ignored.
    public init(start: Int64, loop: Range<Int64>? = nil) {
        self.start = start
        if let loop, !loop.isEmpty, start < loop.upperBound { self.loop = loop } else { self.loop = nil }
    }

    /// The timeline position of stream frame `frame`.
    public func position(of frame: Int64) -> Int64 {
        let straight = start + frame
        guard let loop, straight >= loop.upperBound else { return straight }
        let length = loop.upperBound - loop.lowerBound
        return loop.lowerBound + (straight - loop.upperBound) % length
    }

    /// How many frames from the timeline position `position` on follow each other on the timeline.
    func contiguousFrames(from position: Int64) -> Int64 {
        loop.map { $0.upperBound - position } ?? Int64.max
    }
}
