/// Reads session files.
///
/// A session file is JSON with `"format": "backline-session/1"`; docs/session-format.md has its keys. A file that
/// is wrong is refused, with everything that is wrong with it; one that needs what this build lacks, too.
public enum SessionReader {
    /// What a session file's `format` begins with; a version follows.
    private static let formatName = "backline-session/"

    /// The format that this build reads and writes.
    static let format = formatName + "1"

    /// Makes a session of a file's bytes; `file` is its path, which faults and the session's name tell.
    ///
    /// Time and memory grow with the number of bytes, whatever they are; how many are too many is the caller's to
    /// say.
    public static func read(_ bytes: some Collection<UInt8>, file: String) throws(SessionFaults) -> Session {
        let bytes = Array(bytes)
        let log = FaultLog(file: file, bytes: bytes)
        let session = JSONParser.parse(bytes, log: log).flatMap { interpret($0, file: file, log: log) }
        guard let session, log.faults.isEmpty else { throw SessionFaults(faults: log.faults) }
        return session
    }

    private static func interpret(_ node: JSONNode, file: String, log: FaultLog) -> Session? {
        guard var object = ObjectReader(node, label: "the session", log: log),
            isReadable(&object)
        else { return nil }
        var session = Session(name: object.string("name") ?? name(of: file))
        session.sampleRate = object.integer("sampleRate", in: 1_000...1_000_000)
        session.rate = object.number("rate", in: Track.rateRange) ?? 1
        session.needs = needs(&object)
        let routing = Routing(
            tracks: object.list("tracks").enumerated().compactMap {
                Track.draft($0.element, number: $0.offset + 1, log: log)
            },
            buses: object.list("buses").enumerated().compactMap {
                Bus.draft($0.element, number: $0.offset + 1, log: log)
            },
            log: log)
        session.tracks = routing.tracks.map(\.value)
        if !routing.buses.isEmpty { session.buses = routing.buses.map(\.value) }
        refuseUnbuilt(&object)
        session.extensions = object.finish()
        return session
    }

    /// Whether the object is a session of this format, and so worth reading on.
    private static func isReadable(_ object: inout ObjectReader) -> Bool {
        guard object.has("format") else {
            object.report("the session has no \"format\"; it should begin with \"format\": \(quoted(format))")
            _ = object.node("format")
            return true
        }
        guard let found = object.string("format"), found != format else { return true }
        guard found.hasPrefix(formatName) else {
            object.report("format", "expected \(quoted(format)), found \(quoted(found))")
            return true
        }
        let reads = "this build, \(Feature.thisVersion), reads \(quoted(format))"
        object.report("format", "\(reads), found \(quoted(found))")
        return false
    }

    private static func needs(_ object: inout ObjectReader) -> [String] {
        let needs = object.strings("needs")
        for (name, node) in needs {
            let feature = Feature(rawValue: name)
            if let feature, feature.isBuilt { continue }
            let hint = Spelling.hint(for: name, among: feature == nil ? Feature.allCases.map(\.rawValue) : [])
            let version = feature.map { "Backline \($0.version)" } ?? "a newer Backline"
            object.report(
                "needs", "\(quoted(name)) needs \(version), and this is \(Feature.thisVersion)\(hint)",
                at: node)
        }
        return needs.map(\.string)
    }

    private static func refuseUnbuilt(_ object: inout ObjectReader) {
        if !object.list("inputs").isEmpty { object.refuse("inputs", .inputs) }
        if object.string("transport") ?? "ignore" != "ignore" { object.refuse("transport", .transport) }
        if object.flag("resume") { object.refuse("resume") }
        if object.node("tempo") != nil { object.refuse("tempo") }
    }

    /// What to call a session that does not say.
    private static func name(of file: String) -> String {
        let name = Identifiers.baseName(of: file)
        return name.hasSuffix(".backline") ? Identifiers.baseName(of: name) : name
    }
}
