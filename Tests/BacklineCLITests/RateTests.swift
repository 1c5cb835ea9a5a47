import Foundation
import LiveSupport
import Testing

/// Rates, modes and pitches on the command line, and what `render` makes of them.
struct RateOptionTests {
    let bench: Bench

    init() throws { bench = try Bench() }

    @Test(arguments: [
        ([String](), 48_000), (["--speed", "1"], 48_000), (["--speed", "0.8"], 60_000),
        (["--speed", "1.25", "--mode", "tape"], 38_400), (["--speed", "0.5", "--mode", "fast"], 96_000),
        (["--speed", "2"], 24_000), (["--pitch", "-3.5"], 48_000),
        (["--speed", "1.25", "--pitch", "12", "--mode", "fast"], 38_400),
    ])
    func `render at a speed is as long as the file over it`(words: [String], frames: Int) async throws {
        try await bench.tone("tone.wav", seconds: 1, channels: 1)
        let ending = try await Program.run(
            ["render", "tone.wav", "-o", "mix.wav", "--json"] + words, in: bench)
        #expect(ending.status == 0, "\(ending.errors)")
        #expect(try ending.json()["frames"] as? Int == frames)
        #expect(try await bench.probe("mix.wav")["duration_ts"] == "\(frames)")
    }

    @Test(arguments: [
        ([String](), 440.0), (["--speed", "0.8"], 440.0), (["--speed", "0.8", "--mode", "fast"], 440.0),
        (["--speed", "1.25", "--mode", "tape"], 550.0), (["--pitch", "12"], 880.0),
        (["--speed", "0.8", "--pitch", "-12", "--mode", "fast"], 220.0),
    ])
    func `a tone keeps its pitch, is moved by --pitch, and follows a tape`(words: [String], hertz: Double)
        async throws
    {
        try await bench.tone("tone.wav", seconds: 2, channels: 1)
        let ending = try await Program.run(
            ["render", "tone.wav", "-o", "mix.wav", "--bits", "32f"] + words, in: bench)
        #expect(ending.status == 0, "\(ending.errors)")
        let heard = try await bench.decode("mix.wav")
        let left = stride(from: 0, to: heard.count, by: 2).map { heard[$0] }[24_000..<48_000]
        let turns = zip(left, left.dropFirst()).count { $0 < 0 && $1 >= 0 }
        #expect(abs(Double(turns) / 0.5 - hertz) < 4, "\(Double(turns) / 0.5) Hz")
    }

    @Test func `a session's rates play as written, and options stand in for them`() async throws {
        try await bench.tone("tone.wav", seconds: 1, channels: 1)
        let track = #""file": "tone.wav", "start": 1, "rate": 0.8, "rateMode": "fast", "pitch": -0.5"#
        let text = """
            {"format": "backline-session/1", "sampleRate": 48000, "rate": 2, "tracks": [{\(track)}]}
            """
        try bench.write(text.utf8, to: "song.backline.json")
        func frames(_ words: String...) async throws -> Int? {
            let ending = try await Program.run(
                ["render", "song.backline.json", "-o", "mix.wav", "--json", "--force"] + words, in: bench)
            #expect(ending.status == 0, "\(ending.errors)")
            return try ending.json()["frames"] as? Int
        }
        // A second and 1.25 s of the timeline, in half of the time; the start is the timeline's.
        #expect(try await frames() == 54_000)
        #expect(try await frames("--speed", "1") == 108_000)
        #expect(try await frames("--speed", "0.5", "--mode", "tape") == 216_000)
        // The control: a track without a rate of its own.
        try bench.write(text.replacing(#""rate": 0.8, "#, with: "").utf8, to: "song.backline.json")
        #expect(try await frames() == 48_000)
        // What a session may not say is told with its line.
        try bench.write(
            text.replacing("\"fast\"", with: "\"tape\"").utf8, to: "song.backline.json")
        let ending = try await Program.run("render", "song.backline.json", "-o", "no.wav", in: bench)
        #expect(ending.status == 2 || ending.status == 1, "\(ending.status)")
        #expect(ending.errors.contains("follows the rate in mode \"tape\""), "\(ending.errors)")
    }

    @Test func `help of play and render tells speed, pitch and mode, and play's tells their keys`()
        async throws
    {
        for command in ["play", "render"] {
            let help = try await Program.run(command, "--help", in: bench).output
            for text in [
                "--speed R", "0.5 to 2", "--pitch N", "-12 to 12", "--mode M", "fine", "fast", "tape",
            ] {
                #expect(help.contains(text), "\(command): \(text)")
            }
        }
        let play = try await Program.run("play", "--help", in: bench).output
        #expect(
            play.contains("[ and ] the speed by 0.05") && play.contains("{ and } the pitch by a semitone"))
    }
}

extension LiveTests {
    /// Rates of `play`.
    struct RateTests {
        let bench: Bench

        init() throws { bench = try Bench() }

        @Test(arguments: [
            (["--speed", "0.8"], 30_000), (["--speed", "1.25", "--mode", "fast"], 19_200),
            (["--pitch", "2"], 24_000), (["--speed", "2", "--from", "0.25"], 6_000),
        ])
        func `play at a speed takes the file's length over it`(words: [String], frames: Int) async throws {
            try await bench.tone("tone.wav", seconds: 0.5, channels: 1)
            let ending = try await Program.run(
                ["play", "tone.wav", "--silent", "--json"] + words, in: bench)
            #expect(ending.status == 0, "\(ending.errors)")
            let json = try ending.json()
            #expect(json["frames"] as? Int == frames)
            #expect(json["underruns"] as? Int == 0)
        }

        @Test func `a pipe is told the speed, and places are the timeline's`() async throws {
            try await bench.tone("tone.wav", seconds: 0.5, channels: 1)
            let plain = try await Program.run("play", "tone.wav", "--silent", "--speed", "0.8", in: bench)
            #expect(plain.status == 0 && plain.output.contains(", at speed 0.8\n"), "\(plain.output)")
            let running = try Program.start(
                [
                    Program.path, "play", "tone.wav", "--silent", "--events", "--speed", "0.8", "--from",
                    "0.2",
                ], in: bench)
            #expect(try await running.ending().status == 0)
            func place(_ event: String) -> Double? {
                running.events.last { $0["event"] as? String == event }?["position"] as? Double
            }
            #expect(place("started") == 0.2 && place("ended") == 0.5)
        }

        /// A minute on a terminal, in one mode.
        private func play(_ words: String, columns: Int = 132) async throws -> Screen {
            try await bench.tone("Guitar.wav", seconds: 60, channels: 1, rate: 16_000)
            let screen = try await Screen(
                "'\(Program.path)' play Guitar.wav --silent \(words)", columns: columns, in: bench)
            try await screen.waitUntil("playing") { $0.isPlaying && $0.position ?? 0 > 0.2 && $0.has("main") }
            return screen
        }

        @Test func `brackets change the speed, and the display tells it`() async throws {
            let screen = try await play("--mode fast")
            #expect(!(try await screen.lines()).has("×"))
            try await screen.press("[")
            try await screen.waitUntil("slower") { $0.has("/ 1:00.0 × 0.95 ") }
            for _ in 0..<5 { try await screen.press("[") }
            let slow = try await screen.waitUntil("slow") { $0.has(" × 0.70 ") }
            try await screen.waitUntil("it plays on") {
                $0.isPlaying && $0.position ?? 0 > (slow.position ?? 0) + 1
            }
            for _ in 0..<5 { try await screen.press("]") }
            try await screen.waitUntil("nearly back") { $0.has(" × 0.95 ") }
            try await screen.press("]")
            try await screen.waitUntil("exactly back") { $0.isPlaying && !$0.has("×") }
            try await screen.press("]")
            try await screen.waitUntil("faster") { $0.has(" × 1.05 ") }
            try await screen.press("q")
            let last = try await screen.waitUntil("the end") { $0.has("STATUS") }
            #expect(last.has("STATUS 0"))
        }

        @Test func `the speed stays between a half and two`() async throws {
            let screen = try await play("--mode fast --speed 1.9")
            for _ in 0..<4 { try await screen.press("]") }
            try await screen.waitUntil("twice as fast") { $0.has(" × 2.00 ") }
            try await screen.press("[")
            try await screen.waitUntil("one step back") { $0.has(" × 1.95 ") }
        }

        @Test(arguments: [132, 100, 80])
        func `braces change the pitch, and the display tells it`(columns: Int) async throws {
            let screen = try await play("--mode fast", columns: columns)
            try await screen.press("}")
            try await screen.waitUntil("higher") { $0.has("pitch +1") }
            for _ in 0..<3 { try await screen.press("{") }
            try await screen.waitUntil("lower") { $0.has("pitch −2") }
            let place = try #require(try await screen.lines().position)
            try await screen.waitUntil("it plays on") { $0.isPlaying && $0.position ?? 0 > place + 1 }
            try await screen.press("}", "}")
            try await screen.waitUntil("as it was") {
                $0.has("play") || !$0.has("pitch −") && !$0.has("pitch +")
            }
        }

        @Test func `in mode tape braces change nothing, and say why`() async throws {
            let screen = try await play("--mode tape")
            try await screen.press("}")
            let lines = try await screen.waitUntil("the reason") { $0.has("mode tape the pitch follows") }
            #expect(!lines.has("pitch +"))
        }
    }
}
