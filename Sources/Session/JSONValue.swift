/// A JSON value that a session carries without knowing what it means.
public enum JSONValue: Sendable, Equatable {
    /// `null`.
    case null

    /// `true` or `false`.
    case bool(Bool)

    /// A number written without fraction or exponent that fits 64 bits.
    case integer(Int64)

    /// Any other number; finite.
    case number(Double)

    /// A string.
    case string(String)

    /// A list.
    case array([JSONValue])

    /// An object; the order of its keys is not kept.
    case object([String: JSONValue])
}
