import Session
import Testing

struct SessionReaderTests {
    @Test func `a session is what its file says`() throws {
        let session = try read(Samples.full)
        #expect(session.name == "Demo")
        #expect(session.sampleRate == 48_000)
        #expect(session.rate == 1.25)
        #expect(session.needs == ["clips", "solo", "rates"])
        #expect(session.extensions == ["x-studio": .object(["room": .integer(2), "hot": .bool(true)])])
        #expect(session.tracks.map(\.id) == ["guitar", "takes", "Bass", "drums"])

        let guitar = session.tracks[0]
        #expect(guitar.name == "Guitar")
        #expect(guitar.clips == [Clip(file: "guitar.flac", start: .frames(480), loops: 2)])
        #expect((guitar.gain, guitar.pan, guitar.output) == (0.8, -0.3, "band"))
        #expect((guitar.rate, guitar.rateMode, guitar.pitch) == (0.75, .fast, -0.5))
        #expect(guitar.mute && guitar.solo && guitar.invert)
        #expect(guitar.extensions == ["x-colour": .string("#f80")])

        let takes = session.tracks[1]
        #expect((takes.rate, takes.rateMode, takes.pitch) == (2, .tape, 0))
        let clips = takes.clips
        #expect(
            clips == [
                Clip(
                    file: "take1.wav", start: .seconds(12.5), offset: .seconds(1), length: .seconds(8),
                    gain: 0.5,
                    fadeIn: .seconds(0.01), fadeOut: .frames(100), loops: -1, extensions: ["x-take": .null]),
                Clip(file: "take2.wav"),
            ])

        #expect(session.buses.map(\.id) == ["band", "main"])
        #expect(
            session.buses[0] == Bus(id: "band", name: "The band", output: "main", gain: 10, soloSafe: true))
        let main = session.buses[1]
        #expect(main.connect == [["system:playback_1", "rec:in_1"], ["system:playback_2"], []])
        #expect((main.channels, main.pan, main.mute, main.solo) == (3, 0.25, true, true))
        #expect(!main.connectsToPhysicalOutputs)
    }

    @Test func `only the format and a file are required`() throws {
        let session = try session(#""tracks": [ { "file": "stems/guitar.flac" } ]"#)
        let guitar = Track(id: "guitar", clips: [Clip(file: "stems/guitar.flac")])
        #expect(session == Session(name: "demo", tracks: [guitar]))
        #expect(try read(#"{"format": "backline-session/1"}"#).tracks.isEmpty)
    }

    @Test func `a session that declares no bus has a stereo main on the physical outputs`() throws {
        for fields in [#""name": "a""#, #""buses": []"#] {
            let buses = try session(fields).buses
            #expect(buses == [.implicitMain])
            #expect((buses[0].id, buses[0].channels, buses[0].connect) == ("main", 2, []))
            #expect(buses[0].connectsToPhysicalOutputs)
        }
        #expect(try session(#""buses": [{ "id": "main" }]"#).buses[0].connectsToPhysicalOutputs == false)
    }

    @Test func `ids default to names and names to ids`() throws {
        let session = try session(
            """
            "tracks": [{ "name": "Bass", "file": "b" }, { "id": "c", "file": "c" }],
            "buses": [{ "name": "main" }]
            """)
        #expect(session.tracks.map(\.id) == ["Bass", "c"])
        #expect(session.tracks.map(\.name) == ["Bass", "c"])
        #expect(session.buses.map(\.id) == ["main"])
    }

    @Test func `a track with neither id nor name is called after its file, and never takes another's id`()
        throws
    {
        let files = ["a/guitar.wav", "b/guitar.flac", "main.wav", "x:y.tar.gz", "bass", ".rc", "\\u0007.wav"]
        let tracks = files.map { #"{ "file": "\#($0)" }"# }
        let given = #"{ "clips": [{ "file": "drums.wav" }] }, { "id": "guitar-2", "file": "last.wav" }"#
        let session = try session(#""tracks": [ \#(tracks.joined(separator: ",")), \#(given) ]"#)
        let ids = ["guitar", "guitar-3", "main-2", "x-y.tar", "bass", ".rc", "track", "drums", "guitar-2"]
        #expect(session.tracks.map(\.id) == ids)
        #expect(session.tracks.map(\.name) == ids)
    }

    @Test func `ids made from long names stay within 40 bytes and apart`() throws {
        let files = (1...12).map { "\($0)/" + String(repeating: "é", count: 30) + ".wav" }
        let ids = Session(files: files).tracks.map(\.id)
        #expect(ids.allSatisfy { $0.utf8.count <= 40 })
        #expect(Set(ids).count == 12)
        #expect(ids[0] == String(repeating: "é", count: 20))
        #expect(ids[11] == String(repeating: "é", count: 16) + "-12")
    }

    @Test func `files make a session of one track each`() {
        let session = Session(files: ["stems/guitar.flac", "bass.wav", "other/bass.wav"])
        #expect(session.name == "guitar")
        #expect(session.tracks.map(\.id) == ["guitar", "bass", "bass-2"])
        #expect(
            session.tracks.flatMap(\.clips).map(\.file) == [
                "stems/guitar.flac", "bass.wav", "other/bass.wav",
            ])
        #expect(session.buses == [.implicitMain])
        #expect(Session(files: []).tracks.isEmpty)
    }

    @Test func `decibels are the gain that they stand for`() throws {
        #expect(try track(#""gainDb": 0"#).gain == 1)
        #expect(try track(#""gainDb": 20"#).gain == 10)
        #expect(abs(try track(#""gainDb": -6"#).gain - 0.501_187_233_627_272_3) < 1e-15)
        #expect(try track(#""gainDb": -200"#).gain == 1e-10)
    }

    @Test func `a flat list connects each channel to one port`() throws {
        let session = try session(#""buses": [{ "id": "main", "connect": ["a:1", "a:2"] }]"#)
        #expect(session.buses[0].connect == [["a:1"], ["a:2"]])
    }

    @Test func `keys whose value is off are taken though their feature is not built`() throws {
        let track = try track(
            """
            "sends": [], "inserts": [], "direct": false
            """)
        #expect(track == Track(id: "a", clips: [Clip(file: "a.wav")]))
        let session = try session(#""inputs": [], "transport": "ignore", "resume": false"#)
        #expect(session == Session(name: "demo"))
        #expect(try self.bus(#""sends": [], "inserts": []"#) == Bus(id: "main"))
    }

    @Test func `a byte order mark is skipped`() throws {
        #expect(try read("\u{FEFF}{\"format\": \"backline-session/1\"}").name == "demo")
        #expect(throws: SessionFaults.self) { try read("\u{FEFF}\u{FEFF}{}") }
        let faults = #expect(throws: SessionFaults.self) { try read("\u{FEFF}[]") }
        #expect(faults?.faults.first?.column == 1)
    }

    @Test func `a bus chain as long as a file holds is no circle`() throws {
        let buses = (0..<5_000).map { #"{ "id": "b\#($0)", "output": "b\#($0 + 1)" }, "# }.joined()
        #expect(try session(#""buses": [\#(buses) { "id": "b5000" }]"#).buses.count == 5_001)
    }

    private func bus(_ fields: String) throws -> Bus {
        try session(#""buses": [{ "id": "main", \#(fields) }]"#).buses[0]
    }
}
