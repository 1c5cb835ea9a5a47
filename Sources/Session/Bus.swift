/// A sum of tracks and other buses, with JACK ports of its own.
public struct Bus: Sendable, Equatable {
    /// What the rest of the session, and JACK, call the bus: unique among tracks and buses.
    public var id: String

    /// What people call the bus.
    public var name: String

    /// 1 to 64.
    public var channels: Int

    /// The id of the bus that this one feeds, if any.
    public var output: String?

    /// The JACK ports that each channel is connected to, by channel; at most `channels` lists.
    public var connect: [[String]]

    /// Linear amplitude, 0 to 100.
    public var gain: Double

    /// −1 (left) to 1 (right).
    public var pan: Double

    /// Whether the bus is silenced.
    public var mute: Bool

    /// Whether only the bus, and others like it, are heard.
    public var solo: Bool

    /// Whether the bus sounds on whatever is soloed, as a click or a monitor should.
    public var soloSafe: Bool

    /// Whether the bus goes to the first physical outputs: so does `implicitMain`, and no bus that a session
    /// declares.
    public var connectsToPhysicalOutputs: Bool

    /// What the bus's `x-…` keys hold, by key.
    public var extensions: [String: JSONValue]

    /// Makes a bus that is connected to what it names and to nothing else; without a name it is called by its id.
    public init(
        id: String, name: String? = nil, channels: Int = 2, output: String? = nil, connect: [[String]] = [],
        gain: Double = 1, pan: Double = 0, mute: Bool = false, solo: Bool = false, soloSafe: Bool = false,
        extensions: [String: JSONValue] = [:]
    ) {
        self.id = id
        self.name = name ?? id
        self.channels = channels
        self.output = output
        self.connect = connect
        self.gain = gain
        self.pan = pan
        self.mute = mute
        self.solo = solo
        self.soloSafe = soloSafe
        self.connectsToPhysicalOutputs = false
        self.extensions = extensions
    }

    /// The bus of a session that declares none: `main`, stereo, to the first two physical outputs.
    public static let implicitMain: Bus = {
        var main = Bus(id: "main")
        main.connectsToPhysicalOutputs = true
        return main
    }()
}
