import Stretch

/// How the frames of a stream lie on the timeline: from a start on, at the session's rate, and round a loop range if
/// there is one.
public struct StreamMap: Sendable, Hashable {
    /// The timeline position of stream frame 0, in frames; exact where a stream goes on from another.
    let place: SourcePosition
    /// The range that repeats once the stream has come to its end; not empty, and it ends after `start`.
    public let loop: Range<Int64>?
    /// The frame of the current stream that stream frame 0 takes up, if it does.
    let takenUp: Int64?
    /// The timeline's places, without the loop.
    private(set) var path: RatePath

    /// The timeline position of stream frame 0, in frames.
    public var start: Int64 { place.rounded }

    /// No loop range goes beyond it: its media frames, at twice the rate, are still numbers.
    private static let lastFrame: Int64 = 1 << 60

    /// A stream from `start`; a loop range that is empty, or already over at `start`, is ignored.
    public init(start: Int64, loop: Range<Int64>? = nil) {
        self.init(place: SourcePosition(frame: start), loop: loop, rate: 1)
    }

    /// A stream from a place between frames on, at a session's rate.
    init(place: SourcePosition, loop: Range<Int64>?, rate: Double, takenUp: Int64? = nil) {
        self.place = place
        self.takenUp = takenUp
        path = RatePath(rate: rate, position: place)
        let loop = loop?.clamped(to: .min..<Self.lastFrame)
        if let loop, !loop.isEmpty, place.rounded < loop.upperBound {
            self.loop = loop
        } else {
            self.loop = nil
        }
    }

    /// The same stream at a session's rate.
    func at(rate: Double) -> StreamMap {
        StreamMap(place: place, loop: loop, rate: rate, takenUp: takenUp)
    }

    /// The timeline position of stream frame `frame`, to the nearest frame.
    public func position(of frame: Int64) -> Int64 { wrapped(path.position(of: frame)).rounded }

    /// The place of a stream frame on the timeline, between frames, the loop considered.
    func wrapped(_ straight: SourcePosition) -> SourcePosition {
        guard let loop, straight.rounded >= loop.upperBound else { return straight }
        let passes = (straight.rounded - loop.upperBound) / Int64(loop.count) + 1
        return straight.moved(by: -passes * Int64(loop.count))
    }

    /// The stream frame at which the timeline position `position` comes, without the loop.
    func frame(of position: Int64) -> Int64 { path.frame(of: position) }

    /// The session's rate moves.
    mutating func move(to rate: Double, at frame: Int64, over ramp: Int64) {
        path.move(to: rate, at: frame, over: ramp)
    }
}
