import Foundation
import LiveSupport
import Testing

extension LiveTests {
    /// The keys and the display of `play`, on a terminal.
    struct KeyTests {
        let bench: Bench

        init() throws { bench = try Bench() }

        /// Three tracks of a minute on a terminal of that size.
        private func play(_ words: String = "", columns: Int = 80, rows: Int = 24) async throws -> Screen {
            for (name, hertz) in [("Guitar", 440), ("Bass", 110), ("Drums", 880)] {
                try await bench.tone("\(name).wav", hertz: hertz, seconds: 60, channels: 1, rate: 16_000)
            }
            try bench.session(
                tracks: ["Guitar", "Bass", "Drums"].map {
                    #"{"id": "\#($0)", "file": "\#($0).wav", "volume": 0.4}"#
                })
            let screen = try await Screen(
                "'\(Program.path)' play session.backline.json --silent \(words)", columns: columns,
                rows: rows,
                in: bench)
            try await screen.waitUntil("playing") { $0.isPlaying && $0.position ?? 0 > 0.2 && $0.has("main") }
            return screen
        }

        @Test func `space pauses and resumes`() async throws {
            let screen = try await play()
            try await screen.press("Space")
            let paused = try await screen.waitUntil("paused") { $0.isPaused }
            let place = try #require(paused.position)
            // Something else that can be seen, and the place is still the same.
            try await screen.press("3")
            let later = try await screen.waitUntil("a mute") { $0.track(3).hasPrefix("3 M ") }
            #expect(later.isPaused && later.position == place)
            try await screen.waitUntil("still meters") { $0.track(1).hasSuffix("silent") }
            try await screen.press("Space")
            try await screen.waitUntil("playing on") { $0.isPlaying && $0.position ?? 0 > place }
            // Twice at once is as if nothing had been pressed, whatever fades meanwhile.
            try await screen.press("Space")
            try await screen.press("Space")
            let now = try await screen.waitUntil("playing") { $0.isPlaying }.position ?? 0
            try await screen.waitUntil("playing on") { $0.isPlaying && $0.position ?? 0 > now + 0.5 }
        }

        @Test func `arrows go 5 s on and back`() async throws {
            let screen = try await play()
            try await screen.press("Space")
            let place = try #require(try await screen.waitUntil("paused") { $0.isPaused }.position)
            func at(_ seconds: Double) -> ([String]) -> Bool { { abs(($0.position ?? -1) - seconds) < 0.15 } }
            try await screen.press("Right")
            try await screen.waitUntil("5 s on", at(place + 5))
            try await screen.press("Right")
            try await screen.waitUntil("10 s on", at(place + 10))
            try await screen.press("Left")
            try await screen.waitUntil("5 s back", at(place + 5))
            try await screen.press("Left")
            try await screen.press("Left")
            try await screen.waitUntil("the beginning, and no further", at(max(0, place - 5)))
            try await screen.press("Space")
            try await screen.waitUntil("playing") { $0.isPlaying }
            try await screen.press("Right")
            try await screen.waitUntil("playing on from there") { $0.isPlaying && $0.position ?? 0 > 5 }
        }

        @Test func `digits mute, s and a digit soloes, and the meters follow`() async throws {
            let screen = try await play()
            try await screen.waitUntil("three meters") { lines in
                (1...3).allSatisfy { lines.track($0).contains("█") }
            }
            try await screen.press("2")
            try await screen.waitUntil("a mute") {
                $0.track(2).hasPrefix("2 M  Bass") && $0.track(2).hasSuffix("silent")
            }
            try await screen.press("2")
            try await screen.waitUntil("no mute") {
                $0.track(2).hasPrefix("2    Bass") && $0.track(2).contains("█")
            }
            try await screen.press("s")
            try await screen.waitUntil("the question") { $0.has("solo which track?") }
            try await screen.press("3")
            try await screen.waitUntil("a solo") { lines in
                lines.track(3).hasPrefix("3  S Drums") && lines.track(3).contains("█")
                    && [1, 2].allSatisfy { lines.track($0).hasSuffix("silent") }
            }
            try await screen.press("3")
            try await screen.waitUntil("both") { $0.track(3).hasPrefix("3 MS Drums") }
            try await screen.press("3", "s", "3")
            try await screen.waitUntil("neither") { lines in
                (1...3).allSatisfy { lines.track($0).contains("█") }
            }
            // A digit without a track, and an s that another key follows, change nothing.
            try await screen.press("7", "s", "x", "1")
            try await screen.waitUntil("a mute, not a solo") { $0.track(1).hasPrefix("1 M  Guitar") }
        }

        @Test func `plus and minus change the volume`() async throws {
            let screen = try await play()
            func peak(_ lines: [String]) -> Double? {
                lines.first { $0.contains("main") }?.firstMatch(of: /([−+]?\d+\.\d) dB$/)
                    .flatMap { Double($0.1.replacing("−", with: "-")) }
            }
            try await screen.press("-", "-", "-")
            let low = try await screen.waitUntil("3 dB less") { $0.has("vol −3.0 dB") }
            try await screen.press("+", "=", "+", "+", "+")
            try await screen.waitUntil("2 dB more") { $0.has("vol 2.0 dB") }
            let before = try #require(peak(low))
            // The peak is held for a second, and rises at once.
            try await screen.waitUntil("a higher meter") { peak($0) ?? -99 > before }
        }

        @Test func `q quits and gives the terminal back`() async throws {
            let screen = try await play()
            try await screen.press("q")
            let last = try await screen.waitUntil("the end") { $0.has("STATUS 0") }
            #expect(last.has("played 0:0"))
            let mode = try await screen.waitUntil("the mode of the terminal") { $0.has("icanon") }
            #expect(!mode.has("-icanon"))
        }

        @Test func `^C ends it with 130 and gives the terminal back`() async throws {
            let screen = try await play()
            try await screen.press("C-c")
            try await screen.waitUntil("the end") { $0.has("STATUS 130") }
            #expect(
                !(try await screen.waitUntil("the mode of the terminal") { $0.has("icanon") }).has("-icanon"))
        }

        @Test(arguments: [(80, 24), (40, 10), (132, 43)])
        func `the display fits the terminal`(columns: Int, rows: Int) async throws {
            let screen = try await play(columns: columns, rows: rows)
            let lines = try await screen.waitUntil("meters") { lines in
                (1...3).allSatisfy { lines.track($0).contains("█") }
            }
            let shown = lines.drop { !$0.hasPrefix("▶ ") }.prefix { !$0.isEmpty }
            // One line each: nothing is broken, nothing is left over from an earlier drawing.
            #expect(shown.count == 6, "\(lines.joined(separator: "\n"))")
            for (line, start) in zip(
                shown, ["▶ 0:0", "1    Guitar ", "2    Bass ", "3    Drums ", "     main "])
            {
                #expect(line.hasPrefix(start), "\(line)")
            }
            #expect(shown.dropFirst().prefix(4).allSatisfy { $0.hasSuffix(" dB") }, "\(shown)")
            #expect(Set(shown.dropFirst().prefix(4).map(\.count)).count == 1, "numbers stand in one column")
            #expect(shown.last?.contains("mute") == true && shown.last?.contains("quit") == true)
            #expect(shown.allSatisfy { $0.count < columns })
            #expect(lines.count { $0.hasPrefix("▶ ") } == 1)
        }

        @Test func `more tracks than fit are counted, and wide names keep the columns`() async throws {
            try await bench.tone("tone.wav", seconds: 1)
            try bench.session(
                tracks: (1...30).map {
                    #"{"id": "t\#($0)", "name": "太鼓 \#($0)", "file": "tone.wav", "loops": -1}"#
                })
            let screen = try await Screen(
                "'\(Program.path)' play session.backline.json --silent", columns: 60, rows: 12, in: bench)
            let lines = try await screen.waitUntil("meters") { $0.has("more tracks") && $0.has("CLIP") }
            #expect(lines.has("/ ∞ "))
            let count = lines.count { $0.contains("太鼓") }
            #expect(lines.has("… \(30 - count) more tracks"))
            #expect(lines.contains { $0.hasPrefix("     main ") && $0.hasSuffix(" CLIP") })
        }

        @Test func `in the background it plays on and leaves the terminal alone`() async throws {
            try await bench.tone("tone.wav", seconds: 0.3)
            let screen = try await Screen(
                "bash -c 'set -m; \"\(Program.path)\" play tone.wav --silent & wait $!'", in: bench)
            let lines = try await screen.waitUntil("the end") { $0.has("STATUS 0") }
            #expect(lines.has("tone: peak −6.0 dB") && !lines.has("▶"))
        }

        @Test func `a server that goes away ends the display with its reason`() async throws {
            let server = try await Server.start(in: bench)
            try await bench.tone("tone.wav", seconds: 30)
            let screen = try await Screen(
                "'\(Program.path)' play tone.wav --server \(server.name)", in: bench)
            try await screen.waitUntil("playing") { $0.isPlaying }
            server.send(SIGKILL)
            let lines = try await screen.waitUntil("the end") { $0.has("STATUS 1") }
            #expect(lines.contains { $0.hasPrefix("backline: play: the JACK server went away: ") })
        }
    }
}
