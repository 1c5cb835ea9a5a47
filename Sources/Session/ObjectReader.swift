/// Reads one object of a session, key by key, and reports what is wrong with it.
///
/// A key that is read is a key that is known: `finish` refuses the others. What is faulty reads as if it were
/// not there, so that one fault does not lead to others.
struct ObjectReader {
    /// What the object is, for people: `track "guitar"`.
    let label: String

    /// Where the object begins.
    let offset: Int

    private let object: JSONObject
    private let log: FaultLog
    private var known: [String] = []

    /// Reads `node`, which is `label`; `nil`, and a fault, where it is no object.
    init?(_ node: JSONNode, label: String, log: FaultLog) {
        guard let object = node.object else {
            log.report("\(label): expected an object, found \(node.kind)", at: node.offset)
            return nil
        }
        self.label = label
        self.offset = node.offset
        self.object = object
        self.log = log
    }

    /// Reads `node`, the `number`th of its `kind`, and calls it by its id or its name where it has one.
    init?(_ node: JSONNode, kind: String, number: Int, log: FaultLog) {
        let name = (node.object?["id"] ?? node.object?["name"])?.node.string
        self.init(node, label: "\(kind) \(name.map(quoted) ?? String(number))", log: log)
    }

    /// Whether the object has the key, whatever it holds.
    func has(_ key: String) -> Bool { object[key] != nil }

    /// Where the value of `key` stands; of a key that is missing, where the object begins.
    func offset(of key: String) -> Int { object[key]?.node.offset ?? offset }

    /// Reports what is wrong with what `key` holds, or with `node` inside it.
    func report(_ key: String, _ message: String, at node: JSONNode? = nil) {
        log.report("\(quoted(key)) in \(label): \(message)", at: node?.offset ?? offset(of: key))
    }

    /// Reports what is wrong with the object as a whole.
    func report(_ message: String) {
        log.report(message, at: offset)
    }

    /// Reports that this build does nothing with what `key` holds; `feature` has it, if that has a name yet.
    func refuse(_ key: String, _ feature: Feature? = nil) {
        let version = feature.map { "Backline \($0.version)" } ?? "a newer Backline"
        report(key, "not built yet; it needs \(version), and this is \(Feature.thisVersion)")
    }

    /// What the `x-…` keys hold; every other key that was not read is a fault.
    consuming func finish() -> [String: JSONValue] {
        var extensions: [String: JSONValue] = [:]
        for member in object.members where !known.contains(member.key) {
            if member.key.hasPrefix("x-") {
                extensions[member.key] = member.node.value
            } else {
                let hint = Spelling.hint(for: member.key, among: known)
                log.report("unknown key \(quoted(member.key)) in \(label)\(hint)", at: member.offset)
            }
        }
        return extensions
    }

    // MARK: Values

    /// What `key` holds, of whatever type.
    mutating func node(_ key: String) -> JSONNode? {
        known.append(key)
        return object[key]?.node
    }

    mutating func string(_ key: String) -> String? {
        value(key, "a string", \.string)
    }

    /// A path or a port: a string that is not empty and that C can hold.
    mutating func name(_ key: String) -> String? {
        value(key, "a name", Self.name)
    }

    mutating func flag(_ key: String) -> Bool {
        value(key, "true or false", \.bool) ?? false
    }

    mutating func list(_ key: String) -> [JSONNode] {
        value(key, "a list", \.array) ?? []
    }

    /// A list of strings, with their nodes.
    mutating func strings(_ key: String) -> [(string: String, node: JSONNode)] {
        list(key).compactMap { node in convert(node, key, "a string", \.string).map { ($0, node) } }
    }

    mutating func number(_ key: String, in range: ClosedRange<Double>) -> Double? {
        guard let number = value(key, "a number", \.number) else { return nil }
        guard range.contains(number) else {
            let expected = "\(plain(range.lowerBound)) to \(plain(range.upperBound))"
            report(key, "expected \(expected), found \(plain(number))")
            return nil
        }
        return number
    }

    mutating func integer(_ key: String, in range: ClosedRange<Int>) -> Int? {
        let numbers = Double(range.lowerBound)...Double(range.upperBound)
        guard let number = number(key, in: numbers) else { return nil }
        guard let integer = Int(exactly: number) else {
            report(key, "expected a whole number, found \(plain(number))")
            return nil
        }
        return integer
    }

    /// One of a few words.
    mutating func choice<Choice: CaseIterable & RawRepresentable<String>>(_ key: String) -> Choice? {
        guard let word = string(key) else { return nil }
        guard let choice = Choice(rawValue: word) else {
            let words = Choice.allCases.map(\.rawValue)
            let all = words.map(quoted).joined(separator: ", ")
            let hint = Spelling.hint(for: word, among: words)
            report(key, "expected one of \(all), found \(quoted(word))\(hint)")
            return nil
        }
        return choice
    }

    /// A linear gain, from 0 to 100.
    mutating func gain(_ key: String) -> Double? {
        number(key, in: 0...100)
    }

    /// The linear gain of `volume` or `gainDb`, or 1.
    mutating func level() -> Double {
        let volume = gain("volume")
        let decibels = number("gainDb", in: -200...40)
        if has("volume"), has("gainDb") { report("gainDb", "stands beside \"volume\"; give one of them") }
        return volume ?? decibels.map { Decibels(value: $0).linearGain } ?? 1
    }

    /// Seconds, or `{"frames": n}`.
    mutating func time(_ key: String) -> TimeValue? {
        guard let node = node(key) else { return nil }
        if let count = node.frames { return frames(count, key) }
        guard let seconds = convert(node, key, "seconds or {\"frames\": n}", \.number) else { return nil }
        // More than thirty years; at any sample rate its frames are still exact in a Double.
        let limit = 1e9
        guard (0...limit).contains(seconds) else {
            report(key, "expected 0 to \(plain(limit)) seconds, found \(plain(seconds))")
            return nil
        }
        return .seconds(seconds)
    }

    private func frames(_ count: JSONNode, _ key: String) -> TimeValue? {
        let limit = Int64(1) << 53
        guard let frames = count.integer, (0...limit).contains(frames) else {
            let found = count.number.map(plain) ?? count.kind
            report(key, "expected 0 to \(limit) frames, found \(found)", at: count)
            return nil
        }
        return .frames(frames)
    }

    /// What each channel is connected to: a list of ports for each, or one port each.
    mutating func connections(channels: Int) -> [[String]] {
        let nodes = list("connect")
        if nodes.count > channels {
            report("connect", "lists \(nodes.count) channels, and the bus has \(channels)")
        }
        if nodes.allSatisfy({ $0.string != nil }) {
            return nodes.compactMap { convert($0, "connect", "a port", Self.name).map { [$0] } }
        }
        return nodes.map { channel in
            (convert(channel, "connect", "a list of ports", \.array) ?? [])
                .compactMap { convert($0, "connect", "a port", Self.name) }
        }
    }

    // MARK: Types

    private mutating func value<Value>(
        _ key: String, _ expected: String, _ conversion: (JSONNode) -> Value?
    ) -> Value? {
        node(key).flatMap { convert($0, key, expected, conversion) }
    }

    private func convert<Value>(
        _ node: JSONNode, _ key: String, _ expected: String, _ conversion: (JSONNode) -> Value?
    ) -> Value? {
        if let value = conversion(node) { return value }
        let found =
            switch node.string {
            case ""?: "an empty string"
            case let string? where string.utf8.contains(0): "a string with a zero byte"
            default: node.kind
            }
        report(key, "expected \(expected), found \(found)", at: node)
        return nil
    }

    private static func name(_ node: JSONNode) -> String? {
        node.string.flatMap { $0.isEmpty || $0.utf8.contains(0) ? nil : $0 }
    }
}
