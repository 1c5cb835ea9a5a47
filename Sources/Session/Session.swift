/// A document that says which files play, when, how loud, and into which buses.
///
/// A session is a value: nothing in it is open or running. `SessionReader` makes one of a file's bytes, and
/// `json` makes a file's text of it again. It always has a bus: one that declares none has `Bus.implicitMain`.
public struct Session: Sendable, Equatable {
    /// What people call the session; by default its file's name without `.backline.json`.
    public var name: String

    /// Frames a second of the timeline, and what `TimeValue.frames` counts; `nil`: that of the first file.
    public var sampleRate: Int?

    /// How fast the timeline runs, 0.5 to 2: clips start at `start` over it, and it multiplies every track's rate.
    public var rate: Double

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
        name: String, sampleRate: Int? = nil, rate: Double = 1, tracks: [Track] = [],
        buses: [Bus] = [.implicitMain], needs: [String] = [], extensions: [String: JSONValue] = [:]
    ) {
        self.name = name
        self.sampleRate = sampleRate
        self.rate = rate
        self.tracks = tracks
        self.buses = buses
        self.needs = needs
        self.extensions = extensions
    }

    /// What one track of a new session plays.
    public struct Stem: Sendable, Equatable {
        /// The file, as the session writes it.
        public var file: String
        /// Which of its audio streams, counted from 0.
        public var stream: Int
        /// What people call the sound; nil for the file's name.
        public var name: String?
        /// What the track's id is made of; nil for the file's name.
        public var idName: String?

        /// A stem of `file`.
        public init(file: String, stream: Int = 0, name: String? = nil, idName: String? = nil) {
            self.file = file
            self.stream = stream
            self.name = name
            self.idName = idName
        }
    }

    /// Makes a session that starts `files` together: a track for each, named after it, into `Bus.implicitMain`.
    public init(files: [String]) {
        self.init(
            name: files.first.map { Identifiers.baseName(of: $0) } ?? "", stems: files.map { Stem(file: $0) })
    }

    /// Makes a session that starts `stems` together: a track for each, with an id of its own, into
    /// `Bus.implicitMain`.
    public init(name: String, stems: [Stem]) {
        var identifiers = Identifiers()
        identifiers.claim(Bus.implicitMain.id)
        let tracks = stems.map { stem in
            let id = identifiers.make(named: stem.idName ?? Identifiers.baseName(of: stem.file))
            let name = stem.name.map { Self.printable($0) } ?? ""
            return Track(
                id: id, name: name.isEmpty ? id : name, clips: [Clip(file: stem.file, stream: stem.stream)])
        }
        self.init(name: name, tracks: tracks)
    }

    /// What of a name from elsewhere a session file takes as one.
    private static func printable(_ name: String) -> String {
        var text = ""
        for scalar in name.unicodeScalars.prefix(200) where isPrintable(scalar) {
            text.unicodeScalars.append(scalar)
        }
        return text
    }
}
