/// A JSON value and where it stands in its file.
struct JSONNode {
    /// What a node holds: the cases of `JSONValue`, with nodes inside.
    enum Content {
        case null
        case bool(Bool)
        case integer(Int64)
        case number(Double)
        case string(String)
        case array([JSONNode])
        case object(JSONObject)
    }

    let content: Content

    /// Bytes from the beginning of the file.
    let offset: Int

    /// What the node is, for people: "a number".
    var kind: String {
        switch content {
        case .null: "null"
        case .bool: "true or false"
        case .integer, .number: "a number"
        case .string: "a string"
        case .array: "a list"
        case .object: "an object"
        }
    }

    /// The node without its places.
    var value: JSONValue {
        switch content {
        case .null: .null
        case .bool(let flag): .bool(flag)
        case .integer(let integer): .integer(integer)
        case .number(let number): .number(number)
        case .string(let string): .string(string)
        case .array(let nodes): .array(nodes.map(\.value))
        case .object(let object):
            .object(Dictionary(uniqueKeysWithValues: object.members.map { ($0.key, $0.node.value) }))
        }
    }

    /// The node as a number, if it is one.
    var number: Double? {
        switch content {
        case .integer(let integer): Double(integer)
        case .number(let number): number
        default: nil
        }
    }

    /// The node as a whole number, if it is one: `3`, `3.0` and `3e0` are.
    var integer: Int64? {
        switch content {
        case .integer(let integer): integer
        case .number(let number): Int64(exactly: number)
        default: nil
        }
    }

    /// The `n` of `{"frames": n}`.
    var frames: JSONNode? {
        guard let members = object?.members, members.count == 1 else { return nil }
        return members[0].key == "frames" ? members[0].node : nil
    }

    var string: String? {
        if case .string(let string) = content { string } else { nil }
    }

    var bool: Bool? {
        if case .bool(let bool) = content { bool } else { nil }
    }

    var array: [JSONNode]? {
        if case .array(let nodes) = content { nodes } else { nil }
    }

    var object: JSONObject? {
        if case .object(let object) = content { object } else { nil }
    }
}
