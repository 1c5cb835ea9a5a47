import Foundation
import Testing

/// `backline new`, and sound files named without a session.
struct NewTests {
    let bench: Bench

    init() throws { bench = try Bench() }

    private func tracks(_ name: String) throws -> [[String: Any]] {
        let session = try JSONSerialization.jsonObject(with: try bench.bytes(name)) as? [String: Any]
        return try #require(session?["tracks"] as? [[String: Any]])
    }

    /// A file of a mix and two stems, which are tones of 300 and 500 Hz.
    private func stemFile(_ name: String) async throws {
        try await bench.tone("low.wav", hertz: 300, seconds: 0.5)
        try await bench.tone("high.wav", hertz: 500, seconds: 0.5)
        try await bench.tool("sox", "-m", "-v", "1", "low.wav", "-v", "1", "high.wav", "mix.wav")
        try await bench.tool(
            "ffmpeg", "-v", "error", "-i", "mix.wav", "-i", "low.wav", "-i", "high.wav", "-map", "0:a",
            "-map",
            "1:a", "-map", "2:a", "-c:a", "alac", "-metadata:s:a:2", "handler_name=Bell", "-f", "mp4", name)
    }

    @Test
    func `files become tracks, with paths relative to the session, names of tags and ids of file names`()
        async throws
    {
        try await bench.tone("tone.wav", seconds: 0.2)
        try FileManager.default.createDirectory(
            atPath: bench.path("stems"), withIntermediateDirectories: true)
        try FileManager.default.createDirectory(atPath: bench.path("sets"), withIntermediateDirectories: true)
        try await bench.tool("flac", "-s", "-T", "TITLE=Lead guitar", "tone.wav", "-o", "stems/a.flac")
        try await bench.tool(
            "ffmpeg", "-v", "error", "-i", "tone.wav", "-metadata", "title=Song", "stems/b.m4a")
        try await bench.tool("ffmpeg", "-v", "error", "-i", "tone.wav", "-metadata", "title=Song", "c.wv")
        let ending = try await Program.run(
            "new", "sets/one", "stems/a.flac", "stems/b.m4a", "c.wv", in: bench)
        #expect(ending.status == 0 && ending.errors == "", "\(ending.errors)")
        #expect(ending.output.hasPrefix("wrote sets/one.backline.json: 3 tracks\n"))
        let tracks = try tracks("sets/one.backline.json")
        #expect(tracks.map { $0["file"] as? String } == ["../stems/a.flac", "../stems/b.m4a", "../c.wv"])
        #expect(tracks.map { $0["id"] as? String } == ["a", "b", "c"])
        #expect(
            tracks.map { $0["name"] as? String } == ["Lead guitar", nil, nil], "a title that two have is none"
        )
        let info = try await Program.run("info", "sets/one.backline.json", in: bench)
        #expect(info.status == 0, "\(info.errors)")
    }

    @Test func `a folder's files come in the order in which people count, and what is no sound is told`()
        async throws
    {
        try FileManager.default.createDirectory(atPath: bench.path("in"), withIntermediateDirectories: true)
        for name in ["10 x.wav", "2 x.wav", "1 x.wav", ".hidden.wav"] {
            try await bench.tone("in/" + name, seconds: 0.1)
        }
        try bench.write("words".utf8, to: "in/notes.txt")
        let ending = try await Program.run("new", "in/all.backline.json", "in", "--json", in: bench)
        #expect(ending.status == 0)
        let json = try ending.json()
        #expect(json["file"] as? String == "in/all.backline.json")
        #expect((json["tracks"] as? [[String: Any]])?.map { $0["id"] as? String } == ["1 x", "2 x", "10 x"])
        #expect((json["skipped"] as? [[String: Any]])?.map { $0["file"] as? String } == ["in/notes.txt"])
        #expect(
            try tracks("in/all.backline.json").map { $0["file"] as? String } == [
                "1 x.wav", "2 x.wav", "10 x.wav",
            ])
    }

    @Test func `an existing session is never written over`() async throws {
        try await bench.tone("tone.wav", seconds: 0.1)
        try bench.write("mine".utf8, to: "old.backline.json")
        try FileManager.default.createSymbolicLink(
            atPath: bench.path("link.backline.json"), withDestinationPath: "nowhere")
        for name in ["old", "old.backline.json", "link"] {
            let ending = try await Program.run("new", name, "tone.wav", in: bench)
            #expect(ending.status == 1 && ending.output == "")
            #expect(ending.errors.contains("it exists already; give another name, or remove it first"))
        }
        #expect(String(decoding: try bench.bytes("old.backline.json"), as: UTF8.self) == "mine")
    }

    @Test func `a file that cannot be read, and a folder without sound, write nothing`() async throws {
        try await bench.tone("tone.wav", seconds: 0.1)
        try bench.write("words".utf8, to: "text.wav")
        try FileManager.default.createDirectory(atPath: bench.path("none"), withIntermediateDirectories: true)
        for (source, says) in [
            ("gone.wav", "cannot read gone.wav: No such file"), ("text.wav", "cannot read text.wav: "),
            ("none", "there is no sound file in none"),
        ] {
            let words = source == "none" ? ["new", "s", "none"] : ["new", "s", "tone.wav", source]
            let ending = try await Program.run(words, in: bench)
            #expect(ending.status == 1 && ending.errors.contains(says), "\(ending.errors)")
        }
        let ending = try await Program.run("new", "absent/s", "tone.wav", in: bench)
        #expect(ending.status == 1 && ending.errors.contains("absent/s.backline.json"))
        #expect(bench.names == ["none", "text.wav", "tone.wav"])
    }

    @Test func `a stem file is its stems without the mix; another file of several streams is all of them`()
        async throws
    {
        try await stemFile("song.stem.mp4")
        try FileManager.default.copyItem(atPath: bench.path("song.stem.mp4"), toPath: bench.path("song.mp4"))
        #expect(try await Program.run("new", "a", "song.stem.mp4", in: bench).status == 0)
        let stems = try tracks("a.backline.json")
        #expect(stems.map { $0["id"] as? String } == ["song-1", "Bell"])
        #expect(stems.map { $0["stream"] as? Int } == [1, 2])
        #expect(try await Program.run("new", "b", "song.mp4", in: bench).status == 0)
        #expect(try tracks("b.backline.json").map { $0["stream"] as? Int } == [nil, 1, 2])

        try await bench.tool(
            "sox", "-m", "-v", "1", "low.wav", "-v", "1", "high.wav", "-e", "float", "-b", "32", "sum.wav")
        for source in ["song.stem.mp4", "a.backline.json"] {
            #expect(
                try await Program.run(
                    "render", source, "-o", "out.wav", "--bits", "32f", "--force", in: bench
                ).status == 0)
            #expect(try await bench.decode("out.wav") == bench.decode("sum.wav"), "\(source)")
        }
        let wrong = try await Program.run("render", "a.backline.json", "song.mp4", "-o", "x.wav", in: bench)
        #expect(wrong.status == 2 && wrong.errors.contains("not both"))
    }

    @Test func `a stream that a file does not have is told`() async throws {
        try await stemFile("song.mp4")
        try bench.session(tracks: [
            #"{"id": "a", "file": "song.mp4", "stream": 2}"#,
            #"{"id": "b", "file": "song.mp4", "stream": 3}"#,
        ])
        let ending = try await Program.run("info", "session.backline.json", in: bench)
        #expect(ending.status == 3)
        #expect(ending.errors.contains("cannot read stream 3 of"))
        #expect(ending.errors.contains("it has 3, counted from 0; name one up to 2"))
    }

    @Test func `tags, streams and artwork are told, from either library, and cannot steer the terminal`()
        async throws
    {
        try await bench.tone("tone.wav", seconds: 0.2)
        try await bench.tool(
            "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "color=red:s=16x16", "-frames:v", "1", "c.png")
        let hostile = "\u{1B}[2Jnew\u{202E}line\nartist: forged"
        for (name, codec) in [("a.m4a", "alac"), ("a.mp3", "libmp3lame"), ("a.flac", "flac")] {
            try await bench.tool(
                "ffmpeg", "-v", "error", "-i", "tone.wav", "-i", "c.png", "-map", "0", "-map", "1", "-c:a",
                codec, "-c:v", "copy",
                "-disposition:v", "attached_pic", "-metadata", "title=\(hostile)", "-metadata", "artist=Ada",
                "-metadata", "album=First", "-metadata", "track=3", name)
            let text = try await Program.run("info", name, in: bench)
            #expect(text.status == 0, "\(text.errors)")
            #expect(!text.output.contains("\u{1B}") && !text.output.contains("\u{202E}"), "\(name)")
            #expect(
                !text.output.split(separator: "\n").contains { $0.hasPrefix("artist: forged") }, "\(name)")
            #expect(
                text.output.contains("\n  artist: Ada\n") && text.output.contains("\n  album: First\n"),
                "\(name)")
            #expect(text.output.contains("\n  artwork: image/png, "), "\(name): \(text.output)")
            let json = try await Program.run("info", name, "--json", in: bench)
            let file = try #require(
                (try json.json()["files"] as? [[String: Any]])?.first?["sound"] as? [String: Any])
            let tags = try #require(file["tags"] as? [String: String])
            #expect(
                tags["artist"] == "Ada" && tags["album"] == "First" && tags["tracknumber"] == "3", "\(name)")
            let artwork = try #require(file["artwork"] as? [String: Any])
            #expect(artwork["type"] as? String == "image/png")
            #expect(artwork["byteCount"] as? Int == (try bench.bytes("c.png")).count, "\(name)")
        }
    }
}
