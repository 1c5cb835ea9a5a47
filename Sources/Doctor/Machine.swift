import Foundation

/// The files of a machine, below a root of their own, and what several findings read from them.
struct Machine {
    let root: String
    let environment: [String: String]

    /// The text of the file at `path`, nothing where there is none or it may not be read.
    func text(_ path: String) -> String? {
        guard let data = FileManager.default.contents(atPath: root + path) else { return nil }
        return trimmed(String(decoding: data, as: UTF8.self))
    }

    /// The lines of the file at `path`, without empty ones.
    func lines(_ path: String) -> [Substring] {
        text(path)?.split(separator: "\n") ?? []
    }

    /// The names in the folder at `path` in order, none where there is no such folder.
    func names(in path: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: root + path)) ?? []
        return names.sorted { $0.compare($1, options: .numeric) == .orderedAscending }
    }

    func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: root + path)
    }

    /// A field of `/proc/self/status`, such as `Uid`: its values.
    func status(_ field: String) -> [Substring] {
        let line = lines("/proc/self/status").first { $0.hasPrefix(field + ":") }
        return line?.dropFirst(field.count + 1).split(whereSeparator: \.isWhitespace) ?? []
    }

    var isRoot: Bool { status("Uid").dropFirst().first == "0" }

    /// Whether this process holds a capability, by its number in capabilities(7).
    func hasCapability(_ bit: Int) -> Bool {
        guard let word = status("CapEff").first, let mask = UInt64(word, radix: 16) else { return false }
        return mask & (1 << UInt64(bit)) != 0
    }

    /// The user's name as it goes into a command.
    var user: String {
        let id = status("Uid").first.map(String.init)
        let entry = lines("/etc/passwd").map { $0.split(separator: ":", omittingEmptySubsequences: false) }
            .first { $0.count > 2 && String($0[2]) == id }
        return entry.map { String($0[0]) } ?? environment["USER"] ?? "$USER"
    }

    /// How this user stands to the group `audio`.
    enum Membership { case noSuchGroup, outside, afterNextLogin, inside }

    var audioMembership: Membership {
        let group = lines("/etc/group").map { $0.split(separator: ":", omittingEmptySubsequences: false) }
            .first { $0.first == "audio" && $0.count > 3 }
        guard let group else { return .noSuchGroup }
        if (status("Groups") + status("Gid")).contains(group[2]) { return .inside }
        return group[3].split(separator: ",").contains { $0 == user } ? .afterNextLogin : .outside
    }

    /// The rules of pam_limits on `item` that speak of the group `audio`, of this user or of everybody.
    func limitRules(on item: String) -> [String] {
        let folder = "/etc/security/limits.d"
        let files =
            ["/etc/security/limits.conf"]
            + names(in: folder).filter { $0.hasSuffix(".conf") }.map { "\(folder)/\($0)" }
        return files.flatMap(lines).compactMap { line in
            let words = line.split(whereSeparator: \.isWhitespace)
            guard words.count >= 4, ["@audio", "*", Substring(user)].contains(words[0]), words[2] == item
            else {
                return nil
            }
            return words[0...3].joined(separator: " ")
        }
    }
}

/// `text` without the white space around it.
func trimmed(_ text: some StringProtocol) -> String {
    text.trimmingCharacters(in: .whitespacesAndNewlines)
}

/// `bytes` for a person: "64 MB".
func megabytes(_ bytes: UInt64) -> String {
    bytes >= 1 << 20 ? "\(bytes >> 20) MB" : "\(bytes >> 10) kB"
}

/// "1 file", "2 files".
func counted(_ count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
}
