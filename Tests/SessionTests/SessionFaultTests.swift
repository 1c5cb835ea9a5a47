import Session
import Testing

struct SessionFaultTests {
    @Test func `a fault names file, line, what, and the nearest right thing`() {
        let text = """
            {
              "format": "backline-session/1",
              "tracks": [
                {
                  "id": "guitar",
                  "file": "guitar.flac",
                  "volme": 0.8
                }
              ]
            }
            """
        let faults = #expect(throws: SessionFaults.self) { try read(text) }
        #expect(
            faults?.description
                == #"demo.backline.json:7: unknown key "volme" in track "guitar"; did you mean "volume"?"#)
        #expect(faults?.faults.first?.column == 7)
    }

    @Test func `all faults come in one go, by line`() {
        let text = """
            { "format": "backline-session/1",
              "x-kept": 1, "buses": [{ "id": "room",
              "output": "hall" }, { "id": "main" }],
              "sampelRate": 44100,
              "tracks": [{ "file": "a.wav", "pan": 2,
                "output": "romo" },
              { "mute": "no" }, 3,
              { "id": "a", "file": 3, "clips": [] }] }
            """
        let faults = #expect(throws: SessionFaults.self) { try read(text) }
        #expect(
            faults?.description == """
                demo.backline.json:3: "output" in bus "room": there is no bus "hall"
                demo.backline.json:4: unknown key "sampelRate" in the session; did you mean "sampleRate"?
                demo.backline.json:5: "pan" in track 1: expected -1 to 1, found 2
                demo.backline.json:6: "output" in track 1: there is no bus "romo"; did you mean "room"?
                demo.backline.json:7: track 2 has neither "file" nor "clips"
                demo.backline.json:7: "mute" in track 2: expected true or false, found a string
                demo.backline.json:7: track 3: expected an object, found a number
                demo.backline.json:8: "file" in track "a": expected a name, found a number
                demo.backline.json:8: "file" in track "a": stands beside "clips"; give one of them
                """)
    }

    @Test(arguments: [
        (#"[]"#, #"the session: expected an object, found a list"#),
        (#"{}"#, #"the session has no "format"; it should begin with "format": "backline-session/1""#),
        (
            #"{ "format": "backline-session/2", "whatever": 1 }"#,
            #""format" in the session: this build, 0.3, reads "backline-session/1", found "backline-session/2""#
        ),
        (
            #"{ "format": "ardour" }"#,
            #""format" in the session: expected "backline-session/1", found "ardour""#
        ),
        (#"{ "format": 1 }"#, #""format" in the session: expected a string, found a number"#),
    ])
    func `a file of another format is refused`(text: String, message: String) {
        #expect(messages(try read(text)) == [message])
    }

    @Test(arguments: [
        (#""tracks": {}"#, #""tracks" in the session: expected a list, found an object"#),
        (#""name": null"#, #""name" in the session: expected a string, found null"#),
        (#""sampleRate": 0"#, #""sampleRate" in the session: expected 1000 to 1000000, found 0"#),
        (#""sampleRate": 48000.5"#, #""sampleRate" in the session: expected a whole number, found 48000.5"#),
        (
            #""inputs": [1]"#,
            #""inputs" in the session: not built yet; it needs Backline 0.4, and this is 0.3"#
        ),
        (
            #""transport": "follow""#,
            #""transport" in the session: not built yet; it needs Backline 0.6, and this is 0.3"#
        ),
        (
            #""tempo": 120"#,
            #""tempo" in the session: not built yet; it needs a newer Backline, and this is 0.3"#
        ),
        (
            #""resume": true"#,
            #""resume" in the session: not built yet; it needs a newer Backline, and this is 0.3"#
        ),
        (#""needs": ["sends"]"#, #""needs" in the session: "sends" needs Backline 0.5, and this is 0.3"#),
        (
            #""needs": ["rate"]"#,
            #""needs" in the session: "rate" needs a newer Backline, and this is 0.3; did you mean "rates"?"#
        ),
        (
            #""needs": ["solo", "clisp"]"#,
            #""needs" in the session: "clisp" needs a newer Backline, and this is 0.3; did you mean "clips"?"#
        ),
        (#""needs": [1]"#, #""needs" in the session: expected a string, found a number"#),
        (#""name": "a", "name": "b""#, #"key "name" stands twice in one object, first on line 1"#),
        (#""x-a": { "b": 1, "b": 2 }"#, #"key "b" stands twice in one object, first on line 1"#),
        (#""x": 1"#, #"unknown key "x" in the session"#),
    ])
    func `a session's fault has its message`(fields: String, message: String) {
        #expect(messages(try session(fields)) == [message])
    }

    @Test(arguments: [
        (#""volume": "loud""#, #""volume" in track "a": expected a number, found a string"#),
        (#""volume": -0.1"#, #""volume" in track "a": expected 0 to 100, found -0.1"#),
        (#""volume": 101"#, #""volume" in track "a": expected 0 to 100, found 101"#),
        (#""gainDb": 41"#, #""gainDb" in track "a": expected -200 to 40, found 41"#),
        (#""volume": 1, "gainDb": 0"#, #""gainDb" in track "a": stands beside "volume"; give one of them"#),
        (#""gain": 1"#, #"unknown key "gain" in track "a"; did you mean "gainDb"?"#),
        (#""Volume": 1"#, #"unknown key "Volume" in track "a"; did you mean "volume"?"#),
        (#""frobnicate": 1"#, #"unknown key "frobnicate" in track "a""#),
        (#""pan": -1.5"#, #""pan" in track "a": expected -1 to 1, found -1.5"#),
        (#""solo": 1"#, #""solo" in track "a": expected true or false, found a number"#),
        (#""loops": -2"#, #""loops" in track "a": expected -1 to 1000000000, found -2"#),
        (#""loops": 0.5"#, #""loops" in track "a": expected a whole number, found 0.5"#),
        (#""start": -1"#, #""start" in track "a": expected 0 to 1000000000 seconds, found -1"#),
        (#""start": "1:20""#, #""start" in track "a": expected seconds or {"frames": n}, found a string"#),
        (
            #""start": { "frame": 1 }"#,
            #""start" in track "a": expected seconds or {"frames": n}, found an object"#
        ),
        (
            #""start": { "frames": 1.5 }"#,
            #""start" in track "a": expected 0 to 9007199254740992 frames, found 1.5"#
        ),
        (#""name": "\u001b[2J""#, #""name" in track "a": contains what does not print"#),
        (#""output": "mian""#, #""output" in track "a": there is no bus "mian"; did you mean "main"?"#),
        (#""sends": [{}]"#, #""sends" in track "a": not built yet; it needs Backline 0.5, and this is 0.3"#),
        (
            #""inserts": [{}]"#,
            #""inserts" in track "a": not built yet; it needs Backline 0.5, and this is 0.3"#
        ),
        (
            #""direct": true"#,
            #""direct" in track "a": not built yet; it needs a newer Backline, and this is 0.3"#
        ),
        (
            #""automation": {}"#,
            #""automation" in track "a": not built yet; it needs a newer Backline, and this is 0.3"#
        ),
        (
            #""stream": "http://a""#,
            #""stream" in track "a": expected a number, found a string"#
        ),
    ])
    func `a track's fault has its message`(fields: String, message: String) {
        #expect(messages(try track(fields)) == [message])
    }

    @Test(arguments: [
        (#"{ "id": "a" }"#, #"track "a" has neither "file" nor "clips""#),
        (#"{ "id": "a", "file": "" }"#, #""file" in track "a": expected a name, found an empty string"#),
        (
            #"{ "id": "a", "file": "\u0000" }"#,
            #""file" in track "a": expected a name, found a string with a zero byte"#
        ),
        (
            #"{ "id": "a", "start": 1, "clips": [] }"#,
            #""start" in track "a": stands beside "clips"; each clip has its own"#
        ),
        (
            #"{ "id": "a", "stream": 1, "clips": [] }"#,
            #""stream" in track "a": stands beside "clips"; each clip has its own"#
        ),
        (
            #"{ "id": "a", "file": "b", "stream": -1 }"#,
            #""stream" in track "a": expected 0 to 999, found -1"#
        ),
        (
            #"{ "id": "a", "loops": 1, "clips": [] }"#,
            #""loops" in track "a": stands beside "clips"; each clip has its own"#
        ),
        (#"{ "clips": [] }"#, #"track 1 has neither "id" nor "name" nor a clip to be named after"#),
        (#"{ "id": "a", "clips": [{}] }"#, #"clip 1 of track "a" has no "file""#),
        (#"{ "id": "a", "clips": [1] }"#, #"clip 1 of track "a": expected an object, found a number"#),
        (
            #"{ "id": "a", "clips": [{ "file": "b" }, { "file": "b", "length": 0 }] }"#,
            #""length" in clip 2 of track "a": expected more than 0; leave it out to play to the file's end"#
        ),
        (
            #"{ "id": "a", "clips": [{ "file": "b", "fadein": 1 }] }"#,
            #"unknown key "fadein" in clip 1 of track "a"; did you mean "fadeIn"?"#
        ),
        (
            #"{ "id": "a", "clips": [{ "file": "b", "gain": -1 }] }"#,
            #""gain" in clip 1 of track "a": expected 0 to 100, found -1"#
        ),
        (
            #"{ "id": "a", "clips": [{ "file": "b", "stream": true }] }"#,
            #""stream" in clip 1 of track "a": expected a number, found true or false"#
        ),
        (#"{ "id": "", "file": "a" }"#, #""id" in track "": "" cannot be an id: it is empty"#),
        (#"{ "id": "a:b", "file": "a" }"#, #""id" in track "a:b": "a:b" cannot be an id: it contains ":""#),
        (
            #"{ "name": "a/b", "file": "a" }"#,
            #""name" in track "a/b": "a/b" cannot be an id: it contains "/"; give one as "id""#
        ),
        (
            #"{ "id": "\u0007", "file": "a" }"#,
            #""id" in track "\u{0007}": "\u{0007}" cannot be an id: it contains what does not print"#
        ),
        (
            #"{ "id": "main", "file": "a" }"#,
            #"id "main" is taken: a session that declares no bus has one of that id"#
        ),
        (
            #"{ "id": "a", "file": "a" }, { "name": "a", "file": "b" }"#,
            #"id "a" stands twice, first on line 1; each track and bus needs its own"#
        ),
    ])
    func `a track that is not whole is refused`(track: String, message: String) {
        #expect(messages(try session(#""tracks": [\#(track)]"#)) == [message])
    }

    @Test func `an id has at most 40 bytes`() throws {
        let longest = String(repeating: "é", count: 20)
        #expect(try session(#""tracks": [{ "id": "\#(longest)", "file": "a" }]"#).tracks[0].id == longest)
        let tooLong = longest + "x"
        #expect(
            messages(try session(#""tracks": [{ "id": "\#(tooLong)", "file": "a" }]"#)) == [
                "\"id\" in track \"\(tooLong)\": \"\(tooLong)\" cannot be an id: it has more than 40 bytes"
            ]
        )
    }

    @Test(arguments: [
        (#"{}"#, #"bus 1 has neither "id" nor "name""#),
        (#"{ "id": "a", "channels": 0 }"#, #""channels" in bus "a": expected 1 to 64, found 0"#),
        (
            #"{ "id": "a", "channels": 65, "connect": ["b", "c", "d"] }"#,
            #""channels" in bus "a": expected 1 to 64, found 65"#
        ),
        (
            #"{ "id": "a", "connect": [["b"], [], []] }"#,
            #""connect" in bus "a": lists 3 channels, and the bus has 2"#
        ),
        (
            #"{ "id": "a", "connect": ["b", ["c"]] }"#,
            #""connect" in bus "a": expected a list of ports, found a string"#
        ),
        (#"{ "id": "a", "connect": [[1]] }"#, #""connect" in bus "a": expected a port, found a number"#),
        (
            #"{ "id": "a", "connect": [""] }"#,
            #""connect" in bus "a": expected a port, found an empty string"#
        ),
        (#"{ "id": "a", "output": "a" }"#, #"buses feed each other in a circle: "a" → "a""#),
        (
            #"{ "id": "o", "output": "a" }, { "id": "a", "output": "b" }, { "id": "b", "output": "a" }"#,
            #"buses feed each other in a circle: "a" → "b" → "a""#
        ),
        (#"{ "id": "a", "output": "b" }"#, #""output" in bus "a": there is no bus "b""#),
        (#"{ "id": "a", "onOutputLost": "mute" }"#, #""onOutputLost" in bus "a": not built yet; \#(newer)"#),
        (#"{ "id": "a", "automation": {} }"#, #""automation" in bus "a": not built yet; \#(newer)"#),
        (
            #"{ "id": "a", "sends": [1] }"#,
            #""sends" in bus "a": not built yet; it needs Backline 0.5, and this is 0.3"#
        ),
        (#"{ "id": "a", "inverts": true }"#, #"unknown key "inverts" in bus "a"; did you mean "inserts"?"#),
    ])
    func `a bus's fault has its message`(bus: String, message: String) {
        #expect(messages(try session(#""buses": [\#(bus)]"#)) == [message])
    }

    private static let newer = "it needs a newer Backline, and this is 0.3"

    @Test func `tracks and buses share their ids`() {
        let fields = #""buses": [{ "id": "main" }, { "id": "a" }], "tracks": [{ "id": "a", "file": "a" }]"#
        #expect(
            messages(try session(fields))
                == [#"id "a" stands twice, first on line 1; each track and bus needs its own"#])
    }

    @Test func `a track needs an output where buses are declared and main is not`() throws {
        let buses = #""buses": [{ "id": "room" }]"#
        #expect(
            messages(try session(#"\#(buses), "tracks": [{ "file": "a" }]"#))
                == [
                    #"track 1 has no "output", and no bus is called "main"; name one of the buses, or declare it"#
                ])
        #expect(
            messages(try session(#"\#(buses), "tracks": [{ "file": "a", "output": "main" }]"#)) == [
                #""output" in track 1: there is no bus "main""#
            ])
        let fields = #"\#(buses), "tracks": [{ "file": "a", "output": "room" }]"#
        #expect(try session(fields).tracks[0].output == "room")
        #expect(try session(buses).buses == [Bus(id: "room")])
    }

    @Test func `what does not print is escaped and what is long is cut`() {
        let fields = #""\u001b]0;\#(String(repeating: "x", count: 100))": 1"#
        let shown = #"\u{001B}]0;"# + String(repeating: "x", count: 56)
        #expect(
            messages(try session(fields))
                == ["unknown key \"\(shown)…\" in the session"])
    }
}
