/// What the engine could not do: what failed, on what, why, and what mends it.
public enum BacklineError: Error, Sendable, Equatable, CustomStringConvertible {
    /// A session file that cannot be read at all.
    case unreadable(file: String, reason: String)
    /// A session file with faults, one a line.
    case faults(String)
    /// A name that the session does not have.
    case unknown(kind: String, name: String, known: [String])
    /// Stems that are missing or damaged, where that is not accepted.
    case stems([StemProblem])
    /// Nothing to play.
    case nothing(file: String)
    /// A range or a time that makes no sense.
    case time(String)
    /// A session that never ends, where an end is needed.
    case endless(String)
    /// The engine has no room for so much.
    case full(String)
    /// The server, a port or a connection.
    case jack(String)
    /// The file that is written.
    case output(String)

    /// One line, or one a fault, for a person.
    public var description: String {
        switch self {
        case .unreadable(let file, let reason): "cannot read \(file): \(reason)"
        case .faults(let text): text
        case .unknown(let kind, let name, let known):
            "there is no \(kind) \"\(name)\" in this session; it has \(known.joined(separator: ", "))"
        case .stems(let problems): problems.map(\.description).joined(separator: "\n")
        case .nothing(let file): "\(file) has no track that can play: add a track with a \"file\""
        case .time(let text), .endless(let text), .full(let text), .jack(let text), .output(let text): text
        }
    }
}

/// A stem that is missing, damaged, or failed while it played; the rest plays on.
public struct StemProblem: Sendable, Equatable, Codable, CustomStringConvertible {
    /// The track's id.
    public let track: String
    /// The file, as the session names it.
    public let file: String
    /// What is wrong, with the file.
    public let reason: String

    /// What is wrong with `file` of `track`.
    public init(track: String, file: String, reason: String) {
        self.track = track
        self.file = file
        self.reason = reason
    }

    /// One line for a person.
    public var description: String { "track \"\(track)\": \(reason)" }
}
