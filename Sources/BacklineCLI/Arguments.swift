import Session

/// A command line that is wrong: exit status 2.
struct UsageError: Error {
    let message: String
}

/// The arguments of one command: options by their names, and the rest.
struct Arguments {
    /// An option that a command takes.
    struct Option {
        let name: String
        /// What its value is called in the help; nil for an option without one.
        let value: String?
        let help: String

        init(_ name: String, _ value: String? = nil, _ help: String) {
            self.name = name
            self.value = value
            self.help = help
        }
    }

    private(set) var rest: [String] = []
    private var values: [String: [String]] = [:]

    /// Sorts `words` by what the command takes.
    init(_ words: [String], options: [Option]) throws(UsageError) {
        var i = 0
        var onlyRest = false
        while i < words.count {
            let word = words[i]
            i += 1
            if onlyRest || !word.hasPrefix("-") || word == "-" {
                rest.append(word)
            } else if word == "--" {
                onlyRest = true
            } else {
                let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
                let name = word.hasPrefix("--") ? parts[0] : word
                guard let option = options.first(where: { "--\($0.name)" == name || $0.name == name }) else {
                    throw UsageError(message: Self.unknown(name, options))
                }
                guard option.value != nil else {
                    guard parts.count == 1 else { throw UsageError(message: "\(name) takes no value") }
                    values[option.name, default: []].append("")
                    continue
                }
                if parts.count == 2 && word.hasPrefix("--") {
                    values[option.name, default: []].append(parts[1])
                } else if i < words.count {
                    values[option.name, default: []].append(words[i])
                    i += 1
                } else {
                    throw UsageError(message: "\(name) needs a value: \(name) \(option.value ?? "")")
                }
            }
        }
    }

    private static func unknown(_ name: String, _ options: [Option]) -> String {
        let word = String(name.drop { $0 == "-" })
        guard let near = Spelling.nearest(to: word, among: options.map(\.name)) else {
            return "unknown option \(name); see --help"
        }
        return "unknown option \(name); did you mean \(near.hasPrefix("-") ? "" : "--")\(near)?"
    }

    /// Whether an option is there.
    func has(_ name: String) -> Bool { values[name] != nil }

    /// An option's last value.
    func string(_ name: String) -> String? { values[name]?.last }

    /// All values of an option that repeats.
    func strings(_ name: String) -> [String] { values[name] ?? [] }

    /// An option's value as a number of seconds, 0 or more: `12.5`, `1:30` or `1:02:03.5`.
    func seconds(_ name: String) throws(UsageError) -> Double? {
        guard let text = string(name) else { return nil }
        guard let seconds = Self.seconds(text) else {
            throw UsageError(message: "--\(name) \(text): expected seconds, as 12.5 or 1:30")
        }
        return seconds
    }

    /// An option's value as a length in seconds, more than 0.
    func length(_ name: String) throws(UsageError) -> Double? {
        let length = try seconds(name)
        guard let length, length <= 0 else { return length }
        throw UsageError(message: "--\(name) \(string(name) ?? ""): expected more than 0 seconds")
    }

    /// Seconds from `12.5`, `1:30` or `1:02:03.5`; up to 10⁹, as in a session, so that frames always fit 64 bits.
    static func seconds(_ text: String) -> Double? {
        var total = 0.0
        for part in text.split(separator: ":", omittingEmptySubsequences: false) {
            guard let number = Double(part), number >= 0 else { return nil }
            total = total * 60 + number
            guard total <= 1e9 else { return nil }
        }
        return total
    }

    /// An option's value as a whole number in a range.
    func integer(_ name: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
        guard let text = string(name) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw UsageError(
                message:
                    "--\(name) \(text): expected a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// An option's value as a number in a range.
    func decimal(_ name: String, in range: ClosedRange<Double>) throws(UsageError) -> Double? {
        guard let text = string(name) else { return nil }
        guard let number = Double(text), range.contains(number) else {
            throw UsageError(
                message: "--\(name) \(text): expected a number from \(Output.plain(range.lowerBound)) to "
                    + "\(Output.plain(range.upperBound))")
        }
        return number
    }

    /// An option's value as one of some words.
    func choice<Value: RawRepresentable & CaseIterable>(_ name: String, _ type: Value.Type) throws(UsageError)
        -> Value?
    where Value.RawValue == String {
        guard let text = string(name) else { return nil }
        guard let value = Value(rawValue: text) else {
            let known = Value.allCases.map(\.rawValue).joined(separator: ", ")
            let near = Spelling.nearest(to: text, among: Value.allCases.map(\.rawValue))
            throw UsageError(
                message: "--\(name) \(text): expected one of \(known)"
                    + (near.map { "; did you mean \($0)?" } ?? ""))
        }
        return value
    }
}
