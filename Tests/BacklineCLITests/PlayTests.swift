import Foundation
import LiveSupport
import Testing

/// Tests with servers: one after the other.
extension LiveTests {
    /// `backline play`, on a server of the test or one of its own.
    struct PlayTests {
        let bench: Bench

        init() throws { bench = try Bench() }

        @Test func `JSON tells frames, period, xruns, underruns, load and all levels`() async throws {
            let server = try await Server.start(in: bench)
            try await bench.tone("tone.wav", seconds: 0.5)
            try await bench.tone("quiet.wav", seconds: 0.4, channels: 1)
            let ending = try await Program.run(
                "play", "tone.wav", "quiet.wav", "--server", server.name, "--json", in: bench)
            #expect(ending.status == 0, "\(ending.errors)")
            let json = try ending.json()
            #expect(json["frames"] as? Int == 24_000)
            #expect(json["sampleRate"] as? Int == 48_000 && json["period"] as? Int == 256)
            for key in ["xruns", "underruns", "lostFrames", "losses", "lateReadings", "overHalfPeriod"] {
                #expect((json[key] as? Int ?? -1) >= 0, "\(key)")
            }
            #expect(json["underruns"] as? Int == 0)
            #expect((json["callbacks"] as? Int ?? 0) >= 24_000 / 256)
            let (mean, most) = (json["loadMean"] as? Double ?? 0, json["loadMaximum"] as? Double ?? 0)
            #expect(mean > 0 && most >= mean)
            #expect((json["problems"] as? [Any])?.isEmpty == true)
            let tracks = try #require(json["tracks"] as? [[String: Any]])
            #expect(tracks.map { $0["name"] as? String } == ["tone", "quiet"])
            let buses = try #require(json["buses"] as? [[String: Any]])
            #expect(buses.map { $0["name"] as? String } == ["main"])
            for each in tracks + buses {
                for key in ["peak", "average"] {
                    let levels = try #require(each[key] as? [Double], "\(each)")
                    #expect(levels.count == 2 && levels.allSatisfy { (-20...0).contains($0) }, "\(levels)")
                }
                #expect(each["clips"] as? [Int] == [0, 0])
            }
        }

        @Test func `a file of several streams plays as several tracks, beside others`() async throws {
            try await bench.tone("low.wav", hertz: 300, seconds: 0.3)
            try await bench.tool(
                "ffmpeg", "-v", "error", "-i", "low.wav", "-i", "low.wav", "-i", "low.wav", "-map", "0:a",
                "-map",
                "1:a", "-map", "2:a", "-c:a", "aac", "song.stem.mp4")
            let ending = try await Program.run(
                "play", "song.stem.mp4", "low.wav", "--silent", "--json", in: bench)
            #expect(ending.status == 0, "\(ending.errors)")
            let json = try ending.json()
            let tracks = try #require(json["tracks"] as? [[String: Any]])
            #expect(tracks.map { $0["name"] as? String } == ["song-1", "song-2", "low"])
            #expect(json["frames"] as? Int == 14_400)
        }

        @Test func `events come one a line, in order, with their places`() async throws {
            try await bench.tone("tone.wav", seconds: 1)
            let ending = try Program.start(
                [Program.path, "play", "tone.wav", "gone.wav", "--silent", "--from", "0.5", "--events"],
                in: bench)
            let end = try await ending.ending()
            #expect(end.status == 3, "\(end.errors)")
            #expect(ending.events.count == end.output.split(separator: "\n").count, "each line is an object")
            let names = ending.eventNames.filter { $0 != "xrun" && $0 != "notice" }
            #expect(names == ["stemFailed", "located", "started", "ended", "finished"])
            func event(_ name: String) -> [String: Any] {
                ending.events.first { $0["event"] as? String == name } ?? [:]
            }
            #expect(event("stemFailed")["track"] as? String == "gone")
            #expect(event("stemFailed")["file"] as? String == "gone.wav")
            #expect(event("located")["position"] as? Double == 0.5)
            #expect(event("started")["position"] as? Double == 0.5)
            #expect(event("ended")["position"] as? Double == 1)
            let report = try #require(event("finished")["report"] as? [String: Any])
            #expect(report["frames"] as? Int == 24_000)
            #expect(
                ending.events.contains { ($0["text"] as? String)?.contains("playing without sound") == true })
        }

        @Test(arguments: [
            (["--from", "0.5", "--to", "1"], 24_000), (["--seconds", "0.4"], 19_200),
            (["--loop", "0.25:0.5", "--seconds", "0.9"], 43_200), (["--from", "0:01.5"], 24_000),
            (["--from", "1.2", "--to", "1.6", "--seconds", "0.2"], 9_600),
        ])
        func `it plays the part that is asked for`(words: [String], frames: Int) async throws {
            try await bench.tone("tone.wav", seconds: 2)
            let ending = try await Program.run(
                ["play", "tone.wav", "--silent", "--json"] + words, in: bench)
            #expect(ending.status == 0, "\(ending.errors)")
            // A stop in the middle fades, 30 ms, and that is played too.
            let played = try #require(try ending.json()["frames"] as? Int)
            #expect((frames...frames + 1_440).contains(played), "\(played)")
        }

        @Test func `at the end it stops, rewinds or quits, as it is told`() async throws {
            try await bench.tone("tone.wav", seconds: 0.3)
            for (choice, last) in [("stop", "ended"), ("rewind", "located")] {
                let running = try Program.start(
                    [Program.path, "play", "tone.wav", "--silent", "--events", "--at-end", choice], in: bench)
                try await eventually("the end") {
                    running.eventNames.contains("ended") && running.eventNames.last { $0 != "xrun" } == last
                }
                #expect(running.isRunning)
                if choice == "rewind" { #expect(running.events.last?["position"] as? Double == 0) }
                running.send(SIGTERM)
                #expect(try await running.ending(within: .seconds(10)).status == 130)
                #expect(running.eventNames.last == "finished")
            }
            #expect(try await Program.run("play", "tone.wav", "--silent", in: bench).status == 0)
        }

        @Test func `it connects what the session says, or what the command line says instead`() async throws {
            let server = try await Server.start(in: bench)
            try await bench.tone("tone.wav", seconds: 0.2)
            try bench.session(
                tracks: [#"{"file": "tone.wav", "loops": -1}"#],
                buses: [#"{"id": "main", "connect": ["system:playback_1", "system:nowhere"]}"#])
            func play(_ words: [String]) throws -> Running {
                try Program.start(
                    [Program.path, "play", "session.backline.json", "--server", server.name, "--events"]
                        + words,
                    in: bench)
            }
            func connections(of channel: Int, _ client: String = "backline") async throws -> [String] {
                try await server.connections(of: "\(client):main.\(channel)")
            }
            let plain = try play([])
            try await eventually("it plays") { plain.eventNames.contains("started") }
            #expect(try await connections(of: 1) == ["system:playback_1"])
            #expect(try await connections(of: 2) == [])
            #expect(plain.events.contains { ($0["text"] as? String)?.contains("system:nowhere") == true })
            plain.send(SIGINT)
            #expect(try await plain.ending().status == 130)

            let told = try play([
                "--client", "desk", "--connect", "main.1=system:playback_2",
                "--connect=main.2=system:playback_1",
            ])
            try await eventually("it plays") { told.eventNames.contains("started") }
            #expect(try await connections(of: 1, "desk") == ["system:playback_2"])
            #expect(try await connections(of: 2, "desk") == ["system:playback_1"])
            told.send(SIGINT)
            #expect(try await told.ending().status == 130)

            for (words, says) in [
                (["--strict"], #"there is no port "system:nowhere""#),
                (["--connect", "main.1=system:playbak_1"], #"did you mean "system:playback_1""#),
                (
                    ["--connect", "man.1=system:playback_1"],
                    #"no output "man.1" in this session; it has main.1, main.2"#
                ),
            ] {
                let ending = try await play(words).ending()
                #expect(ending.status == 1 && ending.errors.contains(says), "\(ending.errors)")
            }
        }

        @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
        func `a signal ends it within 2 s, with everything told`(signal: Int32) async throws {
            try await bench.tone("tone.wav", seconds: 30)
            let running = try Program.start(
                [Program.path, "play", "tone.wav", "--silent", "--events"], in: bench)
            try await eventually("it plays") { running.eventNames.contains("started") }
            let sent = ContinuousClock.now
            running.send(signal)
            let ending = try await running.ending()
            #expect(ContinuousClock.now - sent < .seconds(2))
            #expect(ending.status == 130 && ending.signal == nil)
            #expect(running.eventNames.suffix(2) == ["paused", "finished"], "it fades out first")
        }

        @Test func `a signal ends it within 2 s even when the server does not answer`() async throws {
            let server = try await Server.start(in: bench)
            try await bench.tone("tone.wav", seconds: 30)
            let running = try Program.start(
                [Program.path, "play", "tone.wav", "--server", server.name, "--events"], in: bench)
            try await eventually("it plays") { running.eventNames.contains("started") }
            server.send(SIGSTOP)
            let sent = ContinuousClock.now
            running.send(SIGINT)
            let ending = try await running.ending()
            #expect(ContinuousClock.now - sent < .seconds(2.2))
            #expect(ending.status == 130 && ending.signal == nil)
        }

        @Test(arguments: [SIGKILL, SIGTERM])
        func `a server that goes away is an error that says so`(signal: Int32) async throws {
            let server = try await Server.start(in: bench)
            try await bench.tone("tone.wav", seconds: 30)
            let running = try Program.start(
                [Program.path, "play", "tone.wav", "--server", server.name, "--events"], in: bench)
            try await eventually("it plays") { running.eventNames.contains("started") }
            server.send(signal)
            let ending = try await running.ending(within: .seconds(10))
            #expect(ending.status == 1 && ending.signal == nil)
            #expect(ending.errors.contains("backline: play: the JACK server went away: "))
            #expect(ending.errors.contains("start it again, then play again"))
            #expect(running.eventNames.contains("serverGone") && running.eventNames.last == "finished")
        }

        @Test func `the server that runs is used, and without one it says what it does instead`() async throws
        {
            let server = try await Server.start(in: bench)
            try await bench.tone("tone.wav", seconds: 0.2)
            let found = try await Program.run(
                "play", "tone.wav", "--json", in: bench, environment: ["JACK_DEFAULT_SERVER": server.name])
            #expect(found.status == 0 && !found.errors.contains("without sound"))
            #expect(try found.json()["period"] as? Int == 256)

            let wrong = try await Program.run("play", "tone.wav", "--server", "no-such", in: bench)
            #expect(wrong.status == 1)
            #expect(wrong.errors.contains(#"cannot open JACK server "no-such": none runs"#))
            let both = try await Program.run(
                "play", "tone.wav", "--server", server.name, "--silent", in: bench)
            #expect(both.status == 1 && both.errors.contains("exclude each other"))
        }

        @Test(
            .enabled(
                if: !FileManager.default.fileExists(atPath: "/proc/asound/cards"), "a machine with a card"))
        func `without a server and a card it says that there is no sound`() async throws {
            try await bench.tone("tone.wav", seconds: 0.2)
            let ending = try await Program.run(
                "play", "tone.wav", in: bench, environment: ["XDG_RUNTIME_DIR": "/nonexistent"])
            #expect(ending.status == 0)
            #expect(
                ending.errors.contains(
                    "no JACK server runs and there is no sound card: playing without sound"))
        }

        @Test func `a pipe gets plain lines`() async throws {
            try await bench.tone("tone.wav", seconds: 0.3)
            try bench.session(tracks: [
                #"{"id": "a", "file": "tone.wav"}"#, #"{"id": "b", "file": "tone.wav"}"#,
            ])
            let ending = try await Program.run("play", "session.backline.json", "--silent", in: bench)
            #expect(ending.status == 0)
            #expect(!(ending.output + ending.errors).contains("\u{1B}") && !ending.output.contains("\r"))
            let lines = ending.output.split(separator: "\n")
            #expect(lines.first == "session: 2 tracks, 0:00.3")
            #expect(lines.last?.hasPrefix("played 0:00.3") == true)
            for name in ["a", "b"] {
                #expect(lines.contains { $0.hasPrefix("\(name): peak −6.0 dB, average ") })
            }
            #expect(lines.contains { $0.hasPrefix("main: peak ") })
        }

        @Test func `a missing or broken stem is told, the rest plays, and strict refuses`() async throws {
            try await bench.tone("tone.wav", seconds: 0.5)
            try await bench.tone("cut.flac", seconds: 1)
            try bench.write(try bench.bytes("cut.flac").prefix(12_000), to: "cut.flac")
            try bench.session(tracks: [
                #"{"id": "drums", "file": "tone.wav"}"#, #"{"id": "bass", "file": "gone.wav"}"#,
                #"{"id": "guitar", "file": "cut.flac"}"#,
            ])
            let ending = try await Program.run(
                "play", "session.backline.json", "--silent", "--json", in: bench)
            #expect(ending.status == 3, "\(ending.errors)")
            #expect(ending.errors.contains(#"backline: track "bass": cannot read "#))
            #expect(ending.errors.contains(#"backline: track "guitar": cannot read "#))
            let problems = try #require(try ending.json()["problems"] as? [[String: Any]])
            #expect(problems.compactMap { $0["track"] as? String } == ["bass", "guitar"])
            let strict = try await Program.run(
                "play", "session.backline.json", "--silent", "--strict", in: bench)
            #expect(strict.status == 1 && strict.errors.contains(#"track "bass""#))
            let late = try await Program.run("play", "tone.wav", "--silent", "--from", "9", in: bench)
            #expect(late.status == 1 && late.errors.contains("there is nothing to play from 9.0 s on"))
            let none = try await Program.run("play", "gone.wav", "--silent", in: bench)
            #expect(none.status == 1 && none.errors.contains("gone.wav: No such file or directory"))
        }
    }
}
