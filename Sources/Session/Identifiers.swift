/// The ids of a session: who has which, and new ones for those who have none.
struct Identifiers {
    /// The most bytes of UTF-8 in an id; JACK's port names hold it beside the client's name.
    static let byteLimit = 40

    private var claimed: Set<String> = []
    private var lastSuffixes: [String: Int] = [:]

    /// Takes `id`, and says whether it was free.
    @discardableResult
    mutating func claim(_ id: String) -> Bool {
        claimed.insert(id).inserted
    }

    /// Makes a free id after the base name of `file`, with -2, -3 … where others have that, and takes it.
    mutating func make(for file: String) -> String { make(named: Self.baseName(of: file)) }

    /// Makes a free id after `name`, likewise.
    mutating func make(named name: String) -> String {
        let id = Self.fitting(name, bytes: Self.byteLimit)
        if claim(id) { return id }
        // All that could meet count on from one number, so that many files of one name are no work.
        let stem = Self.fitting(id, bytes: Self.byteLimit - 8)
        while true {
            let suffix = lastSuffixes[stem, default: 1] + 1
            lastSuffixes[stem] = suffix
            if claim("\(stem)-\(suffix)") { return "\(stem)-\(suffix)" }
        }
    }

    /// The last part of a path, without its extension.
    static func baseName(of path: String) -> String {
        let name = path.split(separator: "/").last ?? ""
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return String(name) }
        return String(name[..<dot])
    }

    /// Why `id` cannot be one, or `nil` if it can.
    static func flaw(of id: String) -> String? {
        if id.isEmpty { return "it is empty" }
        if id.utf8.count > byteLimit { return "it has more than \(byteLimit) bytes" }
        if let letter = id.unicodeScalars.first(where: { $0 == ":" || $0 == "/" }) {
            return "it contains \"\(letter)\""
        }
        return id.unicodeScalars.allSatisfy(isPrintable) ? nil : "it contains what does not print"
    }

    /// What of `name` can stand in an id of so many bytes.
    private static func fitting(_ name: String, bytes: Int) -> String {
        var id = ""
        for scalar in name.unicodeScalars where isPrintable(scalar) {
            let fit: Unicode.Scalar = scalar == ":" || scalar == "/" ? "-" : scalar
            guard id.utf8.count + UTF8.width(fit) <= bytes else { break }
            id.unicodeScalars.append(fit)
        }
        return id.isEmpty ? "track" : id
    }
}
