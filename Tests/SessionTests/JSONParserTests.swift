import Session
import Testing

struct JSONParserTests {
    @Test(arguments: [
        ("0", JSONValue.integer(0)),
        ("-0", .integer(0)),
        ("9223372036854775807", .integer(.max)),
        ("-9223372036854775808", .integer(.min)),
        ("9223372036854775808", .number(9_223_372_036_854_775_808)),
        ("1.0", .number(1)),
        ("1e3", .number(1_000)),
        ("-1.5E-2", .number(-0.015)),
        ("1e-999", .number(0)),
        ("5e-324", .number(.leastNonzeroMagnitude)),
        (#""""#, .string("")),
        (#""\"\\\/\b\f\n\r\t""#, .string("\"\\/\u{8}\u{C}\n\r\t")),
        (#""\u00e9\u20AC\ud834\uDD1E""#, .string("é€𝄞")),
        (#""é€𝄞""#, .string("é€𝄞")),
        ("[ ]", .array([])),
        ("[null,true , false]", .array([.null, .bool(true), .bool(false)])),
        (#"{ "a" : { } }"#, .object(["a": .object([:])])),
    ])
    func `JSON means what RFC 8259 says`(text: String, value: JSONValue) throws {
        #expect(try session(#""x-a": \#(text)"#).extensions["x-a"] == value)
    }

    @Test(arguments: [
        ("", "expected a value, found the end of the file"),
        ("{", "expected a key in double quotes, found the end of the file"),
        ("{'a': 1}", "expected a key in double quotes, found \"'\""),
        (#"{"a" 1}"#, #"expected ":" after key "a", found "1""#),
        (#"{"a": 1 "b": 2}"#, #"expected "," or "}", found "\"""#),
        (#"{"a": 1,}"#, #""," before "}"; take it away"#),
        ("[1,]", #""," before "]"; take it away"#),
        ("[1 2]", #"expected "," or "]", found "2""#),
        ("[1] 2", #"expected the end of the file, found "2""#),
        ("// hello", "expected a value, found a comment, which JSON does not have"),
        ("True", #"expected a value, found "T""#),
        ("nul", #"expected a value, found "n""#),
        ("NaN", #"expected a value, found "N""#),
        ("+1", #"expected a value, found "+""#),
        ("01", #"expected the end of the file, found "1""#),
        (".5", #"expected a value, found ".""#),
        ("1.", "expected a digit, found the end of the file"),
        ("-", "expected a digit, found the end of the file"),
        ("1e+", "expected a digit, found the end of the file"),
        ("1e999", #"a number that is too large: "1e999""#),
        (#""abc"#, "this string does not end"),
        ("\"abc\n\"", "this string does not end on its line"),
        ("\"a\tb\"", #"a control character in a string; write \u0009"#),
        (#""\x""#, #"an escape that JSON does not know; write "\\" for one "\""#),
        (#""\"#, #"an escape that JSON does not know; write "\\" for one "\""#),
        (#""\u12g4""#, #"expected four hexadecimal digits after "\u", found "g""#),
        (#""\ud834""#, "half of a surrogate pair"),
        (#""\udd1e""#, "half of a surrogate pair"),
        (#""\ud834\u0041""#, "half of a surrogate pair"),
        ("\u{0}", "expected a value, found byte 0x00"),
    ])
    func `what is not JSON is refused where it begins`(text: String, message: String) {
        #expect(messages(try read(text)) == [message])
    }

    @Test func `a syntax fault has its line and column`() {
        let faults = #expect(throws: SessionFaults.self) { try read("{\n  \"a\": 1,\n  \"b\": ?\n}") }
        #expect(faults?.faults.map { [$0.line, $0.column] } == [[3, 8]])
    }

    @Test(arguments: [
        [0xC3, 0x28], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xFF], [0xE2, 0x82],
    ])
    func `a string that is not UTF-8 is refused`(bytes: [UInt8]) {
        let text = Array(#"{ "x-a": ""#.utf8) + bytes + Array(#"" }"#.utf8)
        let found = messages(try SessionReader.read(text, file: "a"))
        #expect(found == ["this string is not UTF-8"])
    }

    @Test func `64 levels are read and no more`() throws {
        // The session itself is one.
        func nested(_ levels: Int) -> String {
            String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        }
        #expect(try session(#""x-a": \#(nested(63))"#).extensions.count == 1)
        let refusal = ["more than 64 lists and objects inside each other"]
        #expect(messages(try session(#""x-a": \#(nested(64))"#)) == refusal)
        #expect(messages(try read(nested(1_000_000))) == refusal)
        let objects = String(repeating: #"{"a":"#, count: 100_000)
        #expect(messages(try read(objects)) == refusal)
    }

    @Test func `a number has at most 1,000 characters`() throws {
        let digits = String(repeating: "7", count: 999)
        #expect(try session(#""x-a": 0.\#(digits.dropLast())"#).extensions["x-a"] == .number(7.0 / 9))
        let refusal = ["a number of more than 1000 characters"]
        #expect(messages(try session(#""x-a": 0.\#(digits)"#)) == refusal)
        #expect(
            messages(try read(String(repeating: "7", count: 1_000_000)))
                == refusal)
    }

    @Test(.timeLimit(.minutes(2)))
    func `files made to be slow are read in a time that grows with their length`() {
        let count = 5_000
        func list(_ element: (Int) -> String) -> String { (0..<count).map(element).joined(separator: ",") }
        let long = String(repeating: "e\u{301}", count: count)
        let hostile = [
            list { _ in #""a": 1"# },
            list { #""key\#($0)": 1"# },
            #""tracks": [\#(list { #"{ "id": "t\#($0)", "file": "a", "output": "b\#($0)x" }"# })], "#
                + #""buses": [\#(list { #"{ "id": "b\#($0)" }"# })]"#,
            #""tracks": [\#(list { _ in #"{ "file": "same.wav", "x": 1 }"# })]"#,
            #""buses": [\#(list { #"{ "id": "b\#($0)", "output": "b\#(($0 + 1) % count)" }"# })]"#,
            #""tracks": [{ "id": "\#(long)", \#(list { #""\#($0)": 1"# }) }]"#,
            #""tracks": [\#(list { _ in #"{ "file": "a", "output": "x" }"# })], "buses": [{ "id": "\#(long)" }]"#,
        ]
        for fields in hostile {
            #expect(!messages(try session(fields)).isEmpty)
        }
    }
}
