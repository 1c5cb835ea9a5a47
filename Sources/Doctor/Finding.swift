/// How much a finding matters to sound.
public enum Severity: String, Codable, Sendable, CaseIterable, Comparable {
    /// As it should be.
    case ok
    /// Worth knowing; sound does not suffer.
    case note
    /// Sound may suffer under load.
    case warning
    /// Sound will suffer, or not come at all.
    case problem

    /// Orders from `ok` to `problem`.
    public static func < (left: Severity, right: Severity) -> Bool {
        left.rank < right.rank
    }

    private var rank: Int {
        switch self {
        case .ok: 0
        case .note: 1
        case .warning: 2
        case .problem: 3
        }
    }
}

/// One thing that was looked at on this machine.
public struct Finding: Codable, Sendable, Equatable {
    /// What was looked at, in a word that stays the same between versions, such as `realtime-priority`.
    public let id: String
    /// The same for a person, such as "Real-time priority".
    public let title: String
    /// How much it matters.
    public let severity: Severity
    /// What was seen.
    public let detail: String
    /// A command to run, or a file to edit and how; nothing where nothing needs mending.
    public let remedy: String?

    /// Makes a finding as it is shown.
    public init(id: String, title: String, severity: Severity, detail: String, remedy: String? = nil) {
        self.id = id
        self.title = title
        self.severity = severity
        self.detail = detail
        self.remedy = remedy
    }
}

/// What a finding is about, before it is known how that stands.
struct Subject {
    let id: String
    let title: String

    func callAsFunction(_ severity: Severity, _ detail: String, _ remedy: String? = nil) -> Finding {
        Finding(id: id, title: title, severity: severity, detail: detail, remedy: remedy)
    }
}

extension Sequence<Finding> {
    /// The severity of the worst finding, `ok` without any.
    public var worstSeverity: Severity {
        map(\.severity).max() ?? .ok
    }
}
