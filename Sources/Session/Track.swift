/// Clips that share a rate, a volume, a pan and an output.
public struct Track: Sendable, Equatable {
    /// What the rest of the session, and JACK, call the track: unique among tracks and buses.
    public var id: String

    /// What people call the track.
    public var name: String

    /// What plays; a track that names a `file` has one clip.
    public var clips: [Clip]

    /// How fast the clips play, 0.5 to 2, beside the session's own rate: a clip lasts its length over the product
    /// of both. Where it starts is the timeline's.
    public var rate: Double

    /// How the clips are made to fit a rate and a pitch.
    public var rateMode: RateMode

    /// Semitones up or down, −12 to 12, whatever the rate; fractions are cents. In mode `tape`, where the pitch
    /// follows the rate, 0.
    public var pitch: Double

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
        id: String, name: String? = nil, clips: [Clip] = [], rate: Double = 1, rateMode: RateMode = .fine,
        pitch: Double = 0, output: String = Bus.implicitMain.id,
        gain: Double = 1, pan: Double = 0, mute: Bool = false, solo: Bool = false, invert: Bool = false,
        extensions: [String: JSONValue] = [:]
    ) {
        self.id = id
        self.name = name ?? id
        self.clips = clips
        self.rate = rate
        self.rateMode = rateMode
        self.pitch = pitch
        self.output = output
        self.gain = gain
        self.pan = pan
        self.mute = mute
        self.solo = solo
        self.invert = invert
        self.extensions = extensions
    }
}
