import Foundation
import Testing

/// `backline info`.
struct InfoTests {
    let bench: Bench

    init() throws { bench = try Bench() }

    @Test func `a file is told with its container, encoding, rate, channels, frames, length and tags`()
        async throws
    {
        try await bench.tone("tone.wav", seconds: 1.5, channels: 1, bits: 24, rate: 44_100)
        try await bench.tool("flac", "-s", "-T", "TITLE=Überschrift", "-T", "ARTIST=Ada", "tone.wav")
        let ending = try await Program.run("info", "tone.flac", "tone.wav", in: bench)
        #expect(ending.status == 0 && ending.errors == "")
        for text in [
            "tone.flac\n  FLAC", "Signed 24 bit PCM", "44100 Hz, mono, 0:01.5 (66150 frames)",
            "  title: Überschrift", "  artist: Ada", "\ntone.wav\n  WAV",
        ] {
            #expect(ending.output.contains(text), "\(text) in \(ending.output)")
        }
        let json = try await Program.run("info", "tone.flac", "--json", in: bench)
        let file = try #require((try json.json()["files"] as? [[String: Any]])?.first)
        let sound = try #require(file["sound"] as? [String: Any])
        #expect(file["file"] as? String == "tone.flac" && file["error"] == nil)
        #expect((sound["container"] as? String)?.contains("FLAC") == true)
        #expect(sound["encoding"] as? String == "Signed 24 bit PCM")
        #expect(sound["sampleRate"] as? Int == 44_100 && sound["channelCount"] as? Int == 1)
        #expect(sound["frameCount"] as? Int == 66_150 && sound["duration"] as? Double == 1.5)
        #expect(sound["tags"] as? [String: String] == ["title": "Überschrift", "artist": "Ada"])
    }

    @Test func `what is no sound file is named, and the others are told`() async throws {
        try await bench.tone("tone.wav", seconds: 0.2)
        try bench.write("hello".utf8, to: "text.wav")
        let ending = try await Program.run("info", "gone.wav", "text.wav", ".", "tone.wav", in: bench)
        #expect(ending.status == 1)
        #expect(ending.errors.contains("cannot read gone.wav: No such file or directory; check its name"))
        #expect(ending.errors.contains("backline: cannot read text.wav: "))
        #expect(ending.errors.contains("backline: cannot read .: it is not a regular file"))
        #expect(ending.output.hasPrefix("tone.wav\n"))
        let json = try await Program.run("info", "gone.wav", "tone.wav", "--json", in: bench)
        let files = try #require(try json.json()["files"] as? [[String: Any]])
        #expect(json.status == 1 && files.count == 2)
        #expect((files[0]["error"] as? String)?.contains("No such file") == true && files[1]["error"] == nil)
    }

    @Test func `a file that breaks off is told`() async throws {
        try await bench.tone("tone.wav", seconds: 1)
        try bench.write(try bench.bytes("tone.wav").prefix(96_044), to: "cut.wav")
        let ending = try await Program.run("info", "cut.wav", in: bench)
        #expect(ending.status == 3)
        #expect(ending.output.contains("(24000 frames)"))
        #expect(
            ending.errors.contains("beyond its frame 24000: the file ends there, 0.5 s before its header"))
        let json = try await Program.run("info", "cut.wav", "--json", in: bench)
        let file = try #require(
            (try json.json()["files"] as? [[String: Any]])?.first?["sound"] as? [String: Any])
        #expect((file["damage"] as? String)?.contains("frame 24000") == true)
    }

    @Test func `a session is told with its tracks, buses and what is wrong with it`() async throws {
        try await bench.tone("tone.wav", seconds: 0.5)
        try bench.session(
            tracks: [#"{"id": "a", "file": "tone.wav"}"#, #"{"id": "b", "file": "gone.wav"}"#],
            buses: [#"{"id": "main"}"#, #"{"id": "room", "output": "main"}"#])
        let ending = try await Program.run("info", "session.backline.json", in: bench)
        #expect(ending.status == 3)
        #expect(ending.output.contains("session \"session\", 48000 Hz"))
        #expect(ending.output.contains("track \"a\": tone.wav, 0:00.5, 48000 Hz, 2 channels"))
        #expect(ending.output.contains("track \"b\": gone.wav, cannot be read"))
        #expect(ending.output.contains("buses: main, room"))
        #expect(ending.errors.contains("session.backline.json: track \"b\": cannot read "))
        let json = try await Program.run("info", "session.backline.json", "--json", in: bench)
        let session = try #require(
            (try json.json()["files"] as? [[String: Any]])?.first?["session"] as? [String: Any])
        #expect(json.status == 3)
        #expect((session["stems"] as? [[String: Any]])?.compactMap { $0["track"] as? String } == ["a", "b"])
        #expect((session["problems"] as? [[String: Any]])?.first?["track"] as? String == "b")
    }

    /// Line 4 has two faults, line 5 and 6 one each.
    private static let faulty = """
        {
          "format": "backline-session/1",
          "tracks": [
            { "id": "guitar", "file": "g.wav", "volme": 1, "pan": 3 },
            { "id": "bass", "file": "b.wav", "output": "mian" },
            { "id": "drums" }
          ]
        }
        """

    @Test(arguments: ["info", "render", "play"])
    func `all faults of a session are told with file, line and the right thing`(command: String) async throws
    {
        try bench.write(Self.faulty.utf8, to: "bad.backline.json")
        let ending = try await Program.run(
            [command, "bad.backline.json"] + (command == "render" ? ["-o", "x.wav"] : []), in: bench)
        #expect(ending.status == 1 && ending.output == "")
        let lines = ending.errors.split(separator: "\n")
        #expect(
            lines.contains(
                #"backline: bad.backline.json:4: unknown key "volme" in track "guitar"; did you mean "volume"?"#
            ),
            "\(ending.errors)")
        for (line, word) in [(4, "pan"), (5, #"did you mean "main""#), (6, "drums")] {
            #expect(
                lines.contains { $0.hasPrefix("backline: bad.backline.json:\(line): ") && $0.contains(word) },
                "\(word): \(ending.errors)")
        }
        #expect(lines.allSatisfy { $0.hasPrefix("backline: bad.backline.json:") })
    }

    @Test func `a session that cannot be read is told with the reason`() async throws {
        try FileManager.default.createDirectory(
            atPath: bench.path("folder.json"), withIntermediateDirectories: true)
        try bench.write("".utf8, to: "empty.json")
        try bench.write("{\"format\": \"backline-session/9\"}".utf8, to: "later.json")
        for (name, says) in [
            ("gone.json", "cannot read gone.json: there is no such file"),
            ("folder.json", "cannot read folder.json: it is a folder"),
            ("empty.json", "empty.json:1: "), ("later.json", "later.json:1: "),
        ] {
            let ending = try await Program.run("info", name, in: bench)
            #expect(ending.status == 1 && ending.errors.contains(says), "\(name): \(ending.errors)")
        }
    }
}
