import Foundation
import TestSupport
import Testing

/// `backline render`.
struct RenderTests {
    let bench: Bench

    init() throws { bench = try Bench() }

    // MARK: What it writes

    @Test func `stems at unity give exactly the float sum of the decoded files`() async throws {
        try await bench.tone("a.flac", hertz: 311, seconds: 1.1, bits: 16)
        try await bench.tone("b.aiff", hertz: 440, seconds: 0.7, bits: 24)
        var generator = SplitMix(seed: 5)
        let noise = (0..<2 * 60_000).map { _ in Float.random(in: -0.7...0.7, using: &generator) }
        try bench.wav("c.wav", noise)
        try await bench.tone("d.w64", hertz: 97, seconds: 0.9, bits: 24)
        let names = ["a.flac", "b.aiff", "c.wav", "d.w64"]
        let ending = try await Program.run(
            ["render"] + names + ["-o", "mix.wav", "--bits", "32f"], in: bench)
        #expect(ending.status == 0, "\(ending.errors)")

        var sum = [Float](repeating: 0, count: noise.count)
        for name in names {
            for (i, sample) in try await bench.decode(name).enumerated() { sum[i] += sample }
        }
        expectIdentical(try await bench.decode("mix.wav"), sum, "the mix and the sum")
    }

    @Test func `volume, pan, gainDb and invert follow the documented law`() async throws {
        var generator = SplitMix(seed: 6)
        func noise(_ count: Int) -> [Float] {
            (0..<count).map { _ in Float.random(in: -0.25...0.25, using: &generator) }
        }
        let (mono, stereo, third) = (noise(24_000), noise(48_000), noise(48_000))
        try bench.wav("mono.wav", mono, channels: 1)
        try bench.wav("stereo.wav", stereo)
        try bench.wav("third.wav", third)
        try bench.session(tracks: [
            #"{"file": "mono.wav", "volume": 0.8, "pan": -0.3}"#,
            #"{"file": "stereo.wav", "gainDb": -4.5, "pan": 0.4}"#,
            #"{"file": "third.wav", "volume": 0.5, "invert": true}"#,
        ])
        let ending = try await Program.run(
            "render", "session.backline.json", "-o", "mix.wav", "--bits", "32f", in: bench)
        #expect(ending.status == 0, "\(ending.errors)")

        // Mono pans with constant power, stereo balances: the far side falls linearly, the near one stays.
        let angle = (-0.3 + 1) * Double.pi / 4
        let gain = pow(10, -4.5 / 20)
        let sides = [
            (mono: 0.8 * cos(angle), stereo: gain * 0.6), (mono: 0.8 * sin(angle), stereo: gain),
        ]
        let expected = (0..<48_000).map { i in
            let side = sides[i % 2]
            return Float(
                Double(mono[i / 2]) * side.mono + Double(stereo[i]) * side.stereo - Double(third[i]) * 0.5)
        }
        expectNull(try await bench.decode("mix.wav"), expected, below: -140, "the mix and the law")
    }

    @Test(arguments: [
        ("wav", "16", "pcm_s16le"), ("wav", "24", "pcm_s24le"), ("wav", "32f", "pcm_f32le"),
        ("rf64", "24", "pcm_s24le"), ("w64", "16", "pcm_s16le"), ("aiff", "24", "pcm_s24be"),
        ("caf", "16", "pcm_s16"), ("flac", "24", "flac"), ("ogg", "", "vorbis"), ("opus", "", "opus"),
        ("mp3", "", "mp3"),
    ])
    func `every format is what another program takes it for`(format: String, bits: String, codec: String)
        async throws
    {
        try await bench.tone("tone.wav", seconds: 0.5)
        let ending = try await Program.run(
            ["render", "tone.wav", "-o", "mix", "--format", format] + (bits.isEmpty ? [] : ["--bits", bits]),
            in: bench)
        #expect(ending.status == 0, "\(ending.errors)")
        let found = try await bench.probe("mix")
        #expect(found["codec_name"]?.hasPrefix(codec) == true, "\(found)")
        #expect(found["sample_rate"] == "48000" && found["channels"] == "2", "\(found)")
        let decoded = try await bench.decode("mix").count / 2
        #expect(abs(decoded - 24_000) < (bits.isEmpty ? 3_000 : 1), "\(decoded) frames")
        // The ending alone says the same, where it is one.
        if format != "rf64" {
            let byName = try await Program.run("render", "tone.wav", "-o", "mix.\(format)", in: bench)
            #expect(byName.status == 0, "\(byName.errors)")
            #expect(try await bench.probe("mix.\(format)")["codec_name"] == codec || !bits.isEmpty)
        }
    }

    @Test func `another rate, and a part of the whole`() async throws {
        try await bench.tone("tone.wav", seconds: 2)
        let rated = try await Program.run("render", "tone.wav", "-o", "r.wav", "--rate", "44100", in: bench)
        #expect(rated.status == 0, "\(rated.errors)")
        #expect(try await bench.probe("r.wav")["sample_rate"] == "44100")
        #expect(try await bench.decode("r.wav").count == 2 * 88_200)

        let part = try await Program.run(
            "render", "tone.wav", "-o", "p.wav", "--from", "0:00.5", "--seconds", "0.75", "--bits", "32f",
            in: bench)
        #expect(part.status == 0, "\(part.errors)")
        let (whole, heard) = (try await bench.decode("tone.wav"), try await bench.decode("p.wav"))
        #expect(heard.count == 2 * 36_000)
        // A start in mid-file fades in, 30 ms; behind that it is the file.
        expectIdentical(Array(heard.dropFirst(2 * 1_440)), Array(whole[(2 * 25_440)..<(2 * 60_000)]), "part")
    }

    @Test func `the size of the blocks changes no bit`() async throws {
        try await bench.tone("a.flac", seconds: 0.4)
        try await bench.tone("b.wav", hertz: 200, seconds: 0.5, channels: 1, rate: 44_100)
        var results: Set<Data> = []
        for block in ["16", "101", "4096", "8192"] {
            let ending = try await Program.run(
                "render", "a.flac", "b.wav", "-o", "mix.wav", "--block", block, "--force", in: bench)
            #expect(ending.status == 0, "\(ending.errors)")
            results.insert(try bench.bytes("mix.wav"))
        }
        #expect(results.count == 1)
    }

    @Test func `another bus is written when it is named, and a wrong name is met with the right ones`()
        async throws
    {
        try await bench.tone("tone.wav", seconds: 0.2)
        try bench.session(
            tracks: [#"{"file": "tone.wav", "output": "room"}"#],
            buses: [#"{"id": "room", "output": "main", "volume": 0.5}"#, #"{"id": "main", "volume": 0.5}"#])
        let room = try await Program.run(
            "render", "session.backline.json", "-o", "room.wav", "--bus", "room", "--json", in: bench)
        #expect(room.status == 0, "\(room.errors)")
        let wrong = try await Program.run(
            "render", "session.backline.json", "-o", "x.wav", "--bus", "rom", in: bench)
        #expect(wrong.status == 1)
        #expect(wrong.errors.contains(#"there is no bus "rom" in this session; it has room, main"#))
    }

    // MARK: What it says

    @Test func `clipped samples are counted and told, and 32 bits do not clip`() async throws {
        var samples = [Float](repeating: 0.25, count: 2 * 4_800)
        for i in 1_000..<1_150 { samples[i] = i.isMultiple(of: 2) ? 1.5 : -1.25 }
        try bench.wav("hot.wav", samples)
        for bits in ["16", "24"] {
            let ending = try await Program.run(
                "render", "hot.wav", "-o", "mix.wav", "--bits", bits, "--json", "--force", in: bench)
            #expect(ending.status == 0, "\(ending.errors)")
            #expect(try ending.json()["clippedSamples"] as? Int == 150)
            let peak = try await bench.decode("mix.wav")[1_000..<1_150]
            #expect(peak.allSatisfy { abs($0) > 0.9999 && abs($0) <= 1 }, "clipped, not wrapped around")
        }
        let told = try await Program.run("render", "hot.wav", "-o", "mix.wav", "--force", in: bench)
        #expect(told.status == 0)
        #expect(told.errors.contains("150 samples were above full scale and clipped; lower the volumes"))
        let float = try await Program.run(
            "render", "hot.wav", "-o", "mix.wav", "--bits", "32f", "--force", in: bench)
        #expect(float.status == 0 && float.errors == "")
        expectIdentical(try await bench.decode("mix.wav"), samples, "floats")
    }

    @Test func `JSON tells frames, rate, levels, speed and problems`() async throws {
        try await bench.tone("tone.wav", seconds: 1)
        let ending = try await Program.run("render", "tone.wav", "-o", "mix.wav", "--json", in: bench)
        let json = try ending.json()
        #expect(ending.status == 0 && ending.errors == "")
        #expect(json["file"] as? String == "mix.wav")
        #expect(json["frames"] as? Int == 48_000)
        #expect(json["sampleRate"] as? Int == 48_000)
        #expect(json["clippedSamples"] as? Int == 0)
        #expect((json["elapsed"] as? Double ?? 0) > 0)
        #expect((json["speed"] as? Double ?? 0) > 0)
        #expect((json["problems"] as? [Any])?.isEmpty == true)
        for (key, name) in [("tracks", "tone"), ("buses", "main")] {
            let all = try #require(json[key] as? [[String: Any]])
            #expect(all.count == 1 && all[0]["name"] as? String == name)
            // A sine of −6 dB: its peak, and its RMS with a full-scale sine at 0 dB.
            for value in ["peak", "average", "peakBeforeFader", "averageBeforeFader"] {
                let levels = try #require(all[0][value] as? [Double], "\(value)")
                #expect(levels.count == 2 && levels.allSatisfy { abs($0 + 6) < 0.05 }, "\(value): \(levels)")
            }
            #expect(all[0]["clips"] as? [Int] == [0, 0])
        }
    }

    @Test func `a pipe gets one plain line, a terminal a bar that goes away`() async throws {
        try await bench.tone("tone.wav", seconds: 1)
        let piped = try await Program.run("render", "tone.wav", "-o", "mix.wav", in: bench)
        let line = /mix\.wav: 0:01\.0 in \d+\.\d\d s, \d+ × real time\n/
        #expect(piped.output.wholeMatch(of: line) != nil, "\(piped.output)")

        let command = "'\(Program.path)' render tone.wav -o bar.wav --seconds 20"
        let shown = try await Program.start(["script", "-qec", command, "/dev/null"], in: bench).ending()
        #expect(shown.status == 0)
        let parts = shown.output.split(separator: "\r").filter { $0.contains("█") || $0.contains("░") }
        #expect(parts.count >= 2 && parts.allSatisfy { $0.contains(" %") }, "\(shown.output)")
        let last = try #require(
            shown.output.range(of: "\r\u{1B}[K", options: .backwards), "the bar goes away")
        #expect(shown.output[last.upperBound...].hasPrefix("bar.wav: 0:20.0 in "))

        let quiet = "'\(Program.path)' render tone.wav -o quiet.wav -q"
        let silent = try await Program.start(["script", "-qec", quiet, "/dev/null"], in: bench).ending()
        #expect(silent.status == 0 && !silent.output.contains("%"))
    }

    // MARK: What it leaves alone

    @Test func `an existing file is kept unless it is forced, and a stem even then`() async throws {
        try await bench.tone("tone.wav", seconds: 0.1)
        try bench.write("mine".utf8, to: "mix.wav")
        let refused = try await Program.run("render", "tone.wav", "-o", "mix.wav", in: bench)
        #expect(refused.status == 1)
        #expect(refused.errors.contains("mix.wav: it exists already; give another name, or --force"))
        #expect(try bench.bytes("mix.wav") == Data("mine".utf8))
        let forced = try await Program.run("render", "tone.wav", "-o", "mix.wav", "--force", in: bench)
        #expect(forced.status == 0)
        #expect(try bench.bytes("mix.wav").count > 1_000)

        let stem = try bench.bytes("tone.wav")
        try FileManager.default.createSymbolicLink(
            atPath: bench.path("link.wav"), withDestinationPath: "tone.wav")
        for name in ["tone.wav", "./tone.wav"] {
            let spared = try await Program.run("render", "link.wav", "-o", name, "--force", in: bench)
            #expect(spared.status == 1)
            #expect(spared.errors.contains(#"it is a stem of track "link"; give another name"#))
        }
        try bench.session("s.json", tracks: [#"{"file": "tone.wav"}"#])
        let itself = try await Program.run(
            "render", "s.json", "-o", "s.json", "--format", "wav", "--force", in: bench)
        #expect(itself.status == 1 && itself.errors.contains("it is the session itself"))
        #expect(try bench.bytes("tone.wav") == stem)
    }

    @Test(arguments: [[SIGINT], [SIGTERM], [SIGTERM, SIGTERM], [SIGINT, SIGINT]])
    func `a signal in the middle leaves nothing behind`(signals: [Int32]) async throws {
        try await bench.tone("tone.wav", seconds: 0.5)
        try bench.session(tracks: [#"{"file": "tone.wav", "loops": -1}"#])
        let before = bench.names
        let running = try Program.start(
            [Program.path, "render", "session.backline.json", "-o", "mix.wav", "--seconds", "100000"],
            in: bench)
        try await eventually("a partial file that grows") {
            bench.names.contains { $0.hasSuffix(".part") && ((try? bench.bytes($0).count) ?? 0) > 100_000 }
        }
        #expect(!bench.names.contains("mix.wav"))
        for signal in signals { running.send(signal) }
        let ending = try await running.ending(within: .seconds(10))
        #expect(ending.status == 130 && ending.signal == nil)
        #expect(ending.errors.contains("interrupted; mix.wav was not written"))
        #expect(bench.names == before)
    }

    @Test func `an error in the middle leaves nothing behind`() async throws {
        try await bench.tone("tone.wav", seconds: 5)
        let before = bench.names
        // Not less: ThreadSanitizer's runtime begins by writing a file of 512 kB.
        let words = ["bash", "-c", "ulimit -f 600; exec \"$0\" render tone.wav -o mix.wav", Program.path]
        let ending = try await Program.start(words, in: bench).ending()
        #expect(ending.status == 1 && ending.signal == nil)
        #expect(ending.errors.contains("cannot write mix.wav: File too large"), "\(ending.errors)")
        #expect(bench.names == before)
    }

    @Test(arguments: [
        (["-o", "nowhere/mix.wav"], "cannot create nowhere/mix.wav: No such file or directory"),
        (["-o", "mix.xyz"], "cannot tell what mix.xyz is to be by its name; say --format, one of wav, "),
        (["-o", "mix.flac", "--bits", "32f"], "FLAC has no floating-point samples"),
        (["-o", "mix.mp3", "--bits", "16"], "leave --bits out"),
        (
            ["-o", "mix.wav", "--from", "2"],
            "the session ends at 0.1 s, so there is nothing to render from 2.0 s on"
        ),
    ])
    func `what cannot be written is told with what would work`(words: [String], says: String) async throws {
        try await bench.tone("tone.wav", seconds: 0.1)
        let ending = try await Program.run(["render", "tone.wav"] + words, in: bench)
        #expect(ending.status == 1)
        #expect(ending.errors.contains(says), "\(ending.errors)")
        #expect(bench.names == ["tone.wav"])
    }

    @Test func `a session that loops for ever needs an end`() async throws {
        try await bench.tone("tone.wav", seconds: 0.2)
        try bench.session(tracks: [#"{"file": "tone.wav", "loops": -1}"#])
        let endless = try await Program.run("render", "session.backline.json", "-o", "mix.wav", in: bench)
        #expect(endless.status == 1)
        #expect(endless.errors.contains("loops for ever, so its mix has no end; say how much with --seconds"))
        let ended = try await Program.run(
            "render", "session.backline.json", "-o", "mix.wav", "--seconds", "0.5", "--json", in: bench)
        #expect(ended.status == 0)
        #expect(try ended.json()["frames"] as? Int == 24_000)
    }

    // MARK: Stems

    @Test func `a missing stem is a loud warning, the rest plays, and strict refuses`() async throws {
        try await bench.tone("tone.wav", seconds: 0.3)
        try bench.session(tracks: [#"{"file": "tone.wav"}"#, #"{"id": "solo guitar", "file": "gone.wav"}"#])
        let ending = try await Program.run(
            "render", "session.backline.json", "-o", "mix.wav", "--bits", "32f", in: bench)
        #expect(ending.status == 3)
        #expect(ending.errors.contains(#"backline: track "solo guitar": cannot read "#))
        #expect(ending.errors.contains("gone.wav: No such file or directory"))
        expectIdentical(try await bench.decode("mix.wav"), try await bench.decode("tone.wav"), "the rest")

        let strict = try await Program.run(
            "render", "session.backline.json", "-o", "strict.wav", "--strict", in: bench)
        #expect(strict.status == 1)
        #expect(strict.errors.contains(#"track "solo guitar""#))
        #expect(!bench.names.contains("strict.wav"))

        let nothing = try await Program.run("render", "gone.wav", "-o", "none.wav", in: bench)
        #expect(nothing.status == 1 && nothing.errors.contains("gone.wav: No such file or directory"))
    }

    @Test(arguments: [
        ("cut.wav", 16, 60_000), ("cut.wav", 24, 60_000), ("cut.aiff", 24, 60_000), ("cut.w64", 16, 60_000),
        ("cut.flac", 16, 12_000),
    ])
    func `a stem that breaks off is told, and plays as far as it goes`(name: String, bits: Int, bytes: Int)
        async throws
    {
        try await bench.tone(name, hertz: 333, seconds: 1, bits: bits)
        try await bench.tone("whole.wav", hertz: 440, seconds: 1)
        let (cut, whole) = (try await bench.decode(name), try await bench.decode("whole.wav"))
        try bench.write(try bench.bytes(name).prefix(bytes), to: name)
        let ending = try await Program.run(
            "render", name, "whole.wav", "-o", "mix.wav", "--bits", "32f", "--json", in: bench)
        #expect(ending.status == 3, "\(ending.errors)")
        let pattern = #/track "cut": cannot read cut\.\w+ beyond its frame (\d+): /#
        let note = try #require(ending.errors.firstMatch(of: pattern))
        let frames = try #require(Int(note.1))
        #expect((1_000..<47_000).contains(frames))
        #expect(try (ending.json()["problems"] as? [[String: Any]])?.first?["track"] as? String == "cut")
        let mix = try await bench.decode("mix.wav")
        expectIdentical(
            Array(mix.prefix(2 * frames)), zip(whole, cut).prefix(2 * frames).map { $1 + $0 },
            "before the break")
        expectIdentical(
            Array(mix.dropFirst(2 * frames + 2 * 2_000)), Array(whole.dropFirst(2 * frames + 2 * 2_000)),
            "after the break")
    }

    @Test func `a file of a stream, whose header states no length, is whole`() async throws {
        try await bench.tone("tone.wav", seconds: 0.5)
        try await bench.tool("sh", "-c", "ffmpeg -v error -nostdin -i tone.wav -f wav - > stream.wav")
        try await bench.tool("sh", "-c", "sox -V1 tone.wav -t wav - > piped.wav")
        for name in ["stream.wav", "piped.wav"] {
            let ending = try await Program.run("render", name, "-o", "mix-\(name)", in: bench)
            #expect(ending.status == 0 && ending.errors == "", "\(ending.errors)")
        }
    }
}
