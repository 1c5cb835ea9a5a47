/// Clips that share a volume, a pan and an output.
public struct Track: Sendable, Equatable {
    /// What the rest of the session, and JACK, call the track: unique among tracks and buses.
    public var id: String

    /// What people call the track.
    public var name: String

    /// What plays; a track that names a `file` has one clip.
    public var clips: [Clip]

    /// The id of the bus that the track feeds.
    public var output: String

    /// Linear amplitude, 0 to 100.
    public var gain: Double

    /// −1 (left) to 1 (right).
    public var pan: Double

    /// Whether the track is silenced.
    public var mute: Bool

    /// Whether only the track, and others like it, are heard.
    public var solo: Bool

    /// Whether the track's polarity is turned round.
    public var invert: Bool

    /// What the track's `x-…` keys hold, by key.
    public var extensions: [String: JSONValue]

    /// Makes a track; without a name it is called by its id.
    public init(
        id: String, name: String? = nil, clips: [Clip] = [], output: String = Bus.implicitMain.id,
        gain: Double = 1, pan: Double = 0, mute: Bool = false, solo: Bool = false, invert: Bool = false,
        extensions: [String: JSONValue] = [:]
    ) {
        self.id = id
        self.name = name ?? id
        self.clips = clips
        self.output = output
        self.gain = gain
        self.pan = pan
        self.mute = mute
        self.solo = solo
        self.invert = invert
        self.extensions = extensions
    }
}
