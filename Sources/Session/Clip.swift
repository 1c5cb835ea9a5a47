/// A piece of a file at a place on the timeline.
public struct Clip: Sendable, Equatable {
    /// The file's path as the session writes it: relative to the session's own file, or absolute.
    public var file: String

    /// Which of the file's audio streams plays, counted from 0.
    public var stream: Int

    /// When the clip starts, on the timeline.
    public var start: TimeValue

    /// Where in the file it starts.
    public var offset: TimeValue

    /// How much of the file it plays; `nil`: all to the end.
    public var length: TimeValue?

    /// Linear amplitude, 0 to 100.
    public var gain: Double

    /// How long the clip takes to come up to its gain.
    public var fadeIn: TimeValue

    /// How long the clip takes to fall silent before its end.
    public var fadeOut: TimeValue

    /// How often the clip is repeated: 0 plays once, n plays n + 1 times, −1 plays for ever.
    public var loops: Int

    /// What the clip's `x-…` keys hold, by key.
    public var extensions: [String: JSONValue]

    /// Makes a clip; by default it plays all of `file` once, from the timeline's beginning.
    public init(
        file: String, stream: Int = 0, start: TimeValue = .zero, offset: TimeValue = .zero,
        length: TimeValue? = nil,
        gain: Double = 1, fadeIn: TimeValue = .zero, fadeOut: TimeValue = .zero, loops: Int = 0,
        extensions: [String: JSONValue] = [:]
    ) {
        self.file = file
        self.stream = stream
        self.start = start
        self.offset = offset
        self.length = length
        self.gain = gain
        self.fadeIn = fadeIn
        self.fadeOut = fadeOut
        self.loops = loops
        self.extensions = extensions
    }
}
