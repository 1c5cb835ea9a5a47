/// A document that says which files play, when, how loud, and into which buses.
///
/// A session is a value: nothing in it is open or running. `SessionReader` makes one of a file's bytes, and
/// `json` makes a file's text of it again. It always has a bus: one that declares none has `Bus.implicitMain`.
public struct Session: Sendable, Equatable {
    /// What people call the session; by default its file's name without `.backline.json`.
    public var name: String

    /// Frames a second of the timeline, and what `TimeValue.frames` counts; `nil`: that of the first file.
    public var sampleRate: Int?

    /// The tracks, in the order of the file.
    public var tracks: [Track]

    /// The buses, in the order of the file.
    public var buses: [Bus]

    /// Features without which the session makes no sense, for builds that may lack them.
    public var needs: [String]

    /// What the session's `x-…` keys hold, by key.
    public var extensions: [String: JSONValue]

    /// Makes a session; without buses of its own it has `Bus.implicitMain`.
    public init(
        name: String, sampleRate: Int? = nil, tracks: [Track] = [], buses: [Bus] = [.implicitMain],
        needs: [String] = [], extensions: [String: JSONValue] = [:]
    ) {
        self.name = name
        self.sampleRate = sampleRate
        self.tracks = tracks
        self.buses = buses
        self.needs = needs
        self.extensions = extensions
    }

    /// Makes a session that starts `files` together: a track for each, named after it, into `Bus.implicitMain`.
    public init(files: [String]) {
        var identifiers = Identifiers()
        identifiers.claim(Bus.implicitMain.id)
        self.init(
            name: files.first.map { Identifiers.baseName(of: $0) } ?? "",
            tracks: files.map { Track(id: identifiers.make(for: $0), clips: [Clip(file: $0)]) })
    }
}
