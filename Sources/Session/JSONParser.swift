/// Reads strict JSON (RFC 8259) and keeps where everything stands.
///
/// Its time and memory grow with the input's length and no faster, whatever the input is.
struct JSONParser {
    /// What ends the reading: the first place that is not JSON.
    private struct SyntaxFault: Error {
        let message: String
        let offset: Int
    }

    /// How many lists and objects may stand inside each other.
    static let depthLimit = 64

    /// How many characters a number may have; none that a program writes comes near.
    static let numberLimit = 1_000

    private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")

    private let bytes: [UInt8]
    private let log: FaultLog
    private var position: Int
    private var depth = 0

    private init(bytes: [UInt8], log: FaultLog) {
        self.bytes = bytes
        self.log = log
        position = Self.textStart(of: bytes)
    }

    /// Where the text begins: behind a byte order mark, if there is one.
    static func textStart(of bytes: [UInt8]) -> Int {
        bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    }

    /// The value that `bytes` hold, or `nil` where they are not JSON; `log` then says why.
    ///
    /// A key that stands twice in an object is told too, and its first value taken.
    static func parse(_ bytes: [UInt8], log: FaultLog) -> JSONNode? {
        var parser = JSONParser(bytes: bytes, log: log)
        do throws(SyntaxFault) {
            parser.skipSpace()
            let root = try parser.node()
            parser.skipSpace()
            guard parser.next == nil else {
                throw parser.fault("expected the end of the file, found \(parser.found)")
            }
            return root
        } catch {
            log.report(error.message, at: error.offset)
            return nil
        }
    }

    // MARK: Values

    private mutating func node() throws(SyntaxFault) -> JSONNode {
        let offset = position
        let content: JSONNode.Content
        switch next {
        case UInt8(ascii: "{"): content = .object(try nested(Self.object))
        case UInt8(ascii: "["): content = .array(try nested(Self.array))
        case UInt8(ascii: "\""): content = .string(try string())
        case let byte? where byte == UInt8(ascii: "-") || Self.digits.contains(byte): content = try number()
        default: content = try word()
        }
        return JSONNode(content: content, offset: offset)
    }

    private mutating func nested<Value>(
        _ read: (inout JSONParser) throws(SyntaxFault) -> Value
    ) throws(SyntaxFault) -> Value {
        guard depth < Self.depthLimit else {
            throw fault("more than \(Self.depthLimit) lists and objects inside each other")
        }
        depth += 1
        defer { depth -= 1 }
        return try read(&self)
    }

    private static func object(_ parser: inout JSONParser) throws(SyntaxFault) -> JSONObject {
        var object = JSONObject()
        try parser.elements(closing: "}") { parser throws(SyntaxFault) in
            let offset = parser.position
            guard parser.next == UInt8(ascii: "\"") else {
                throw parser.fault("expected a key in double quotes, found \(parser.found)")
            }
            let key = try parser.string()
            parser.skipSpace()
            guard parser.take(":") else {
                throw parser.fault("expected \":\" after key \(quoted(key)), found \(parser.found)")
            }
            parser.skipSpace()
            let node = try parser.node()
            if let first = object[key] {
                let place = "first on line \(parser.log.line(of: first.offset))"
                parser.log.report("key \(quoted(key)) stands twice in one object, \(place)", at: offset)
            } else {
                object.append(JSONObject.Member(key: key, offset: offset, node: node))
            }
        }
        return object
    }

    private static func array(_ parser: inout JSONParser) throws(SyntaxFault) -> [JSONNode] {
        var nodes: [JSONNode] = []
        try parser.elements(closing: "]") { parser throws(SyntaxFault) in
            nodes.append(try parser.node())
        }
        return nodes
    }

    /// Reads what stands between a bracket, which is next, and `closing`, separated by commas.
    private mutating func elements(
        closing: Unicode.Scalar, _ element: (inout JSONParser) throws(SyntaxFault) -> Void
    ) throws(SyntaxFault) {
        position += 1
        skipSpace()
        if take(closing) { return }
        while true {
            try element(&self)
            skipSpace()
            if take(closing) { return }
            guard take(",") else { throw fault("expected \",\" or \"\(closing)\", found \(found)") }
            skipSpace()
            if next == UInt8(ascii: closing) { throw fault("\",\" before \"\(closing)\"; take it away") }
        }
    }

    private mutating func word() throws(SyntaxFault) -> JSONNode.Content {
        let words: [(String, JSONNode.Content)] = [
            ("true", .bool(true)), ("false", .bool(false)), ("null", .null),
        ]
        for (word, content) in words where bytes[position...].starts(with: word.utf8) {
            position += word.utf8.count
            return content
        }
        throw fault("expected a value, found \(found)")
    }

    private mutating func number() throws(SyntaxFault) -> JSONNode.Content {
        let start = position
        _ = take("-")
        if !take("0") { try digits() }
        var isWhole = true
        if take(".") {
            isWhole = false
            try digits()
        }
        if take("e") || take("E") {
            isWhole = false
            _ = take("+") || take("-")
            try digits()
        }
        guard position - start <= Self.numberLimit else {
            throw fault("a number of more than \(Self.numberLimit) characters", at: start)
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isWhole, let integer = Int64(text) { return .integer(integer) }
        guard let number = Double(text), number.isFinite else {
            throw fault("a number that is too large: \(quoted(text))", at: start)
        }
        return .number(number)
    }

    private mutating func digits() throws(SyntaxFault) {
        let start = position
        while let byte = next, Self.digits.contains(byte) { position += 1 }
        if position == start { throw fault("expected a digit, found \(found)") }
    }

    // MARK: Strings

    private mutating func string() throws(SyntaxFault) -> String {
        let start = position
        position += 1
        var text: [UInt8] = []
        while !take("\"") {
            guard let byte = next else { throw fault("this string does not end", at: start) }
            switch byte {
            case UInt8(ascii: "\\"):
                text.append(contentsOf: try escape().utf8)
            case UInt8(ascii: "\n"):
                throw fault("this string does not end on its line", at: start)
            case 0..<0x20:
                throw fault("a control character in a string; write \\u\(hexadecimal(byte, digits: 4))")
            default:
                text.append(byte)
                position += 1
            }
        }
        guard let string = String(validating: text, as: UTF8.self) else {
            throw fault("this string is not UTF-8", at: start)
        }
        return string
    }

    private mutating func escape() throws(SyntaxFault) -> Unicode.Scalar {
        let start = position
        position += 1
        let letter = next
        position += 1
        switch letter {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): break
        default: throw fault("an escape that JSON does not know; write \"\\\\\" for one \"\\\"", at: start)
        }
        let first = try codeUnit()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard UTF16.isLeadSurrogate(first), take("\\"), take("u") else {
            throw fault("half of a surrogate pair", at: start)
        }
        let second = try codeUnit()
        guard UTF16.isTrailSurrogate(second) else { throw fault("half of a surrogate pair", at: start) }
        return UTF16.decode(UTF16.EncodedScalar([first, second]))
    }

    private mutating func codeUnit() throws(SyntaxFault) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw fault("expected four hexadecimal digits after \"\\u\", found \(found)")
            }
            unit = unit << 4 | UInt16(digit)
            position += 1
        }
        return unit
    }

    // MARK: Bytes

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    /// What stands at the position, for people.
    private var found: String {
        switch next {
        case nil: "the end of the file"
        case UInt8(ascii: "/"), UInt8(ascii: "#"): "a comment, which JSON does not have"
        case let byte? where (0x20..<0x7F).contains(byte): quoted(String(Unicode.Scalar(byte)))
        case let byte?: "byte 0x\(hexadecimal(byte, digits: 2))"
        }
    }

    private func fault(_ message: String, at offset: Int? = nil) -> SyntaxFault {
        SyntaxFault(message: message, offset: offset ?? position)
    }
}
