/// JSON on its way to a file: keys in order, numbers and strings spelt out.
enum JSONText {
    case scalar(String)
    case list([JSONText])
    case object([(key: String, value: JSONText)])

    /// The members of an object, added one by one.
    struct Fields {
        private var members: [(key: String, value: JSONText)] = []

        var text: JSONText { .object(members) }

        /// Adds a member, if there is a value and it is not the usual one.
        mutating func add(_ key: String, _ value: JSONText?, unless isUsual: Bool = false) {
            if let value, !isUsual { members.append((key, value)) }
        }
    }

    /// The columns that a list or an object may take up on one line.
    private static let width = 100

    init(_ value: JSONValue) {
        self =
            switch value {
            case .null: .scalar("null")
            case .bool(let flag): .scalar(flag ? "true" : "false")
            case .integer(let integer): .scalar(String(integer))
            case .number(let number): .scalar(number.description)
            case .string(let string): .string(string)
            case .array(let values): .list(values.map(JSONText.init))
            case .object(let members):
                .object(members.sorted { $0.key < $1.key }.map { ($0.key, JSONText($0.value)) })
            }
    }

    static func string(_ string: String) -> JSONText {
        var text = "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"", "\\": text += "\\\(scalar)"
            case "\n": text += "\\n"
            case "\t": text += "\\t"
            case "\0"..<" ": text += "\\u\(hexadecimal(scalar.value, digits: 4))"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return .scalar(text + "\"")
    }

    /// The text on as many lines as it takes, the first of which is indented already.
    func broken(indent: Int) -> String {
        let inner = String(repeating: " ", count: indent + 2)
        let outer = String(repeating: " ", count: indent)
        switch self {
        case .scalar(let text):
            return text
        case .list(let values):
            let lines = values.map { inner + $0.laidOut(indent: indent + 2) }
            return "[\n\(lines.joined(separator: ",\n"))\n\(outer)]"
        case .object(let members):
            let lines = members.map { "\(inner)\(Self.key($0.key)): \($0.value.laidOut(indent: indent + 2))" }
            return "{\n\(lines.joined(separator: ",\n"))\n\(outer)}"
        }
    }

    private func laidOut(indent: Int) -> String {
        let line = inline
        return line.utf8.count + indent <= Self.width ? line : broken(indent: indent)
    }

    private var inline: String {
        switch self {
        case .scalar(let text):
            text
        case .list(let values):
            values.isEmpty ? "[]" : "[\(values.map(\.inline).joined(separator: ", "))]"
        case .object(let members):
            members.isEmpty
                ? "{}"
                : "{ \(members.map { "\(Self.key($0.key)): \($0.value.inline)" }.joined(separator: ", ")) }"
        }
    }

    private static func key(_ key: String) -> String {
        if case .scalar(let text) = string(key) { text } else { "" }
    }
}
