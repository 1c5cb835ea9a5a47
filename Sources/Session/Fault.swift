/// One thing that is wrong with a session file.
public struct Fault: Sendable, Equatable, CustomStringConvertible {
    /// The file, as the caller named it.
    public let file: String

    /// The line, from 1.
    public let line: Int

    /// The column, from 1, in bytes of UTF-8.
    public let column: Int

    /// What is wrong, where in the session, and what would be right.
    public let message: String

    /// `demo.backline.json:7: unknown key "volme" in track "guitar"; did you mean "volume"?`
    public var description: String { "\(file):\(line): \(message)" }
}

/// Everything that is wrong with a session file, in the order of its lines.
public struct SessionFaults: Error, Sendable, Equatable, CustomStringConvertible {
    /// The faults: at least one.
    public let faults: [Fault]

    /// The faults, one a line.
    public var description: String { faults.map(\.description).joined(separator: "\n") }
}
