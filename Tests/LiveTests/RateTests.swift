import AudioFiles
@testable import Backline
import EngineHost
import Foundation
import JackClient
import LiveSupport
import RenderCore
import Session
import TestSupport
import Testing

private let modes: [RateMode] = [.fine, .fast, .tape]

/// Whether a sanitizer watches, which takes more time than what is measured may.
private let isSanitized = ProcessInfo.processInfo.environment["BACKLINE_SANITIZED"] != nil

extension Engine {
    /// The server's frame at this moment.
    fileprivate var jackFrame: JackFrame { client.currentJackFrame }
    /// Frames that have been played.
    fileprivate var framesPlayed: Int64 { framesBefore + stage.host.transportPosition.streamFrame }
}

extension Capture {
    /// Which sample, counted by the server's frames, `frame` is: the same as in the capture where the server lost
    /// nothing.
    fileprivate func sample(of frame: JackFrame) -> Double {
        var first = 0
        for callback in callbacks {
            let into = Int(frame - callback.jackFrame)
            if into < callback.frames { return Double(first + into) }
            first += callback.frames
        }
        return Double(first)
    }
}

extension LiveTests {
    /// Rates, in a server.
    @Suite struct RateTests {
        // MARK: Bits

        @Test(arguments: modes)
        func `What is captured of play at a rate is what render writes, to the bit`(mode: RateMode)
            async throws
        {
            let fixture = try await SessionFixture(rate: 0.8, mode: mode, sampleRate: 48_000)
            let frames = fixture.expected[0].count
            #expect(frames == 48_000 * 25 / 8)
            for freewheels in [false, true] {
                let server = try startServer(
                    period: freewheels ? 1024 : 256, sampleRate: 48_000)
                let performance = try await Performance.play(
                    [fixture.session], on: server.name, outputs: fixture.outputs, seconds: 60
                ) { _ in
                    guard freewheels else { return }
                    let status = try runTool(["jack_freewheel", "y"], server: server.name)
                    #expect(status == 0)
                }
                let what = "rate 0.8 in \(mode.rawValue)\(freewheels ? ", freewheel" : "")"
                try performance.expectExact(fixture, what)
                #expect(performance.report["underruns"] as? Int == 0)
                // The control: a rate that is off by a ten-thousandth is another sound.
                let other = try await fixture.studio.render(
                    fixture.session, sampleRate: 48_000, ["--speed", "0.8001"])
                let check = try performance.checkGaps(
                    against: other + fixture.expected[2...], "the control of \(what)")
                #expect(!check.faults.isEmpty)
            }
        }

        @Test(arguments: modes)
        func `Back at rate 1 it plays the file's bits again, up to the file's end`(mode: RateMode)
            async throws
        {
            let studio = try Studio()
            let (rate, second) = (48_000, 48_000)
            try studio.write(
                .noise(seed: 11, channels: 1, frames: Int64(5 * second)), to: "stem.wav", sampleRate: rate)
            let file = try samples(
                SoundFileSource(path: studio.path("stem.wav"), sampleRate: rate), frames: 5 * second)
            /// What is heard of the file's last second, where the rate was changed to `rates`.
            func end(_ rates: [Double]) async throws -> [Float] {
                let (capture, report) = try await play(mode, studio, seconds: 60) { run in
                    try await run.play()
                    for (k, rate) in rates.enumerated() {
                        try await run.wait(untilAt: 0.6 * Double(k + 1))
                        try await run.engine.edit { $0.rate = rate }
                    }
                    try await run.waitForEnd()
                }
                print("live: back at 1 in \(mode.rawValue): \(report.underruns) underruns on the way")
                let heard = capture.channels[0]
                let last = try #require(heard.lastIndex { $0 != 0 }) + 1
                return Array(heard[max(0, last - second)..<last])
            }
            let bits = Array(file.suffix(second))
            expectIdentical(try await end([1.25, 0.8, 1]), bits, "the end in \(mode)")
            // The control: as good as back is not back.
            guard mode == .fast else { return }
            let near = try await end([1.25, 0.8, 1.0001])
            let same = zip(near, bits).count { $0 == $1 }
            #expect(same < second / 20)
        }

        // MARK: Time

        @Test(.enabled(if: !isSanitized), arguments: modes)
        func `A change of rate is heard in time`(mode: RateMode) async throws {
            let studio = try Studio()
            let signal = PlaceSignal(sampleRate: 48_000)
            try studio.write(
                signal.source(seconds: 20), to: "stem.wav", samples: .float32, sampleRate: 48_000)
            // Rubber Band's R2 hears clicks 2 ms early at 0.8 and 1.5 ms late at 1.25: that moves where the two lines meet
            // by 8 ms.
            let most = mode == .fine ? 150.0 : mode == .fast ? 60 + 8 : 60
            // From one stretched rate to another, then away from 1, where a stretcher has to be put in, and back.
            for (first, rates) in [(0.8, [1.25, 0.8, 1.25]), (1, [0.8, 1, 1.25])] {
                var calls: [JackFrame] = []
                let (capture, report) = try await play(mode, studio, rate: first, seconds: 60) { run in
                    try await run.play()
                    for (k, rate) in rates.enumerated() {
                        try await run.wait(untilAt: Double(k + 1))
                        calls.append(await run.engine.jackFrame)
                        try await run.engine.edit { $0.rate = rate }
                    }
                    try await run.wait(untilAt: Double(rates.count + 1))
                }
                let changes = HeardChanges(
                    capture.channels[0], of: signal, calls: calls.map(capture.sample))
                let text = changes.all.map {
                    String(format: "%.3f to %.3f: %.1f ms", $0.from, $0.to, $0.milliseconds)
                }
                print(
                    "live: changes in \(mode.rawValue): \(text); \(report.lostFrames) frames lost, \(report.underruns) underruns"
                )
                for (change, rate) in zip(changes.all, rates) { #expect(abs(change.to - rate) < 0.01) }
                let usual = changes.milliseconds()
                #expect(usual <= most)
                if first == 1 {
                    let away = changes.milliseconds { from, _ in abs(from - 1) < 0.01 }
                    #expect(away <= most)
                }
                let earliest = changes.all.map(\.milliseconds).min() ?? 0
                if report.underruns == 0 { #expect(earliest > 0, "before it was asked for") }
            }
        }

        @Test func `A change that comes late is measured so`() {
            // By 40 ms and by 160 ms, in a sound that is made of nothing but the signal.
            let signal = PlaceSignal(sampleRate: 48_000)
            for late in [40.0, 160] {
                let calls = [60_000.0, 120_000]
                var place = 0.0
                var heard: [Float] = []
                for n in 0..<180_000 {
                    heard.append(signal.value(place))
                    let now = Double(n) - late * 48
                    place += now < calls[0] ? 0.8 : now < calls[1] ? 1.25 : 0.8
                }
                let changes = HeardChanges(heard, of: signal, calls: calls)
                let errors = changes.all.map { abs($0.milliseconds - late) }
                #expect(errors.count == 2 && (errors.max() ?? 9) < 1, "\(errors)")
            }
        }

        // MARK: Many changes

        /// Three seconds of it; `scripts/bench rates` has half a minute of it, and counts.
        @Test(.enabled(if: !isSanitized))
        func `50 changes a second on 6 stereo tracks in fast take no track's sound away`() async throws {
            let studio = try Studio()
            for i in 0..<6 {
                try studio.write(.noise(seed: UInt64(i), peak: 0.1, frames: 48_000 * 12), to: "\(i).wav")
            }
            let session = try studio.writeSession(
                """
                { "format": "backline-session/1", "sampleRate": 48000, "rate": 0.8, "tracks": [
                  \((0..<6).map { #"{ "file": "\#($0).wav", "rateMode": "fast" }"# }.joined(separator: ","))
                ] }
                """)
            let server = try startServer(period: 256, synchronous: false)
            let (capture, report) = try await EngineRun.capture(
                try SessionDocument(reading: session), on: server, outputs: ["main.1", "main.2"], seconds: 30
            ) { run in
                try await run.play()
                var random = SplitMix(seed: 6)
                let first = await run.engine.framesPlayed
                for n in 1...150 {
                    try await waitUntil("change \(n)") {
                        await run.engine.framesPlayed >= first + Int64(n * 960)
                    }
                    let rate = Double.random(in: 0.5...2, using: &random)
                    try await run.engine.edit { $0.rate = rate }
                }
            }
            let heard = capture.channels[0]
            let (first, last) = (
                heard.firstIndex { $0 != 0 } ?? 0, heard.lastIndex { $0 != 0 } ?? 0
            )
            print(
                "live: 150 changes in \(last - first) frames: \(report.underruns) underruns,"
                    + " \(report.lostFrames) frames lost")
            #expect(last - first > 140_000)
            // What is stretched lies 22 ms ahead: whoever else takes the processors for longer empties all tracks at once.
            // That this does not happen otherwise is what the benchmark is for; here it may happen once.
            if report.lostFrames == 0 { #expect(report.underruns <= 6) }
        }

        // MARK: Places

        @Test(arguments: modes)
        func `After many changes of all rates the place, the end and what remains are one`(mode: RateMode)
            async throws
        {
            let studio = try Studio()
            try studio.write(
                .noise(seed: 12, channels: 1, frames: Int64(6 * 48_000)), to: "stem.wav",
                sampleRate: 48_000)
            var paused = EngineStatus(position: 0, isPlaying: false, rate: 1)
            var before: Int64 = 0
            var atEnd = paused
            let (capture, report) = try await play(mode, studio, seconds: 60) { run in
                try await run.play()
                var random = SplitMix(seed: 13)
                for n in 0..<20 {
                    try await run.wait(untilAt: 0.1 * Double(n + 1))
                    let rate = n % 5 == 4 ? 1 : Double.random(in: 0.6...1.6, using: &random)
                    try await run.engine.edit {
                        if n % 3 == 1 && mode != .fine { $0.tracks[0].rate = rate } else { $0.rate = rate }
                    }
                }
                let pauses = run.pauses
                try await run.engine.pause()
                try await waitUntil("a pause") { run.pauses > pauses }
                paused = await run.engine.status
                before = await run.engine.framesPlayed
                // While it stands still nothing moves.
                try await run.engine.edit { $0.tracks[0].gain = 0.5 }
                #expect(await run.engine.status == paused)
                try await run.play()
                try await run.waitForEnd()
                atEnd = await run.engine.status
                #expect(run.ends == [atEnd.duration])
            }
            let remaining = try #require(paused.remaining)
            print("live: \(mode): paused at \(paused), \(before) frames, \(report.frames) in all")
            #expect(!paused.isPlaying && paused.position > 2)
            #expect(atEnd.position == paused.duration && atEnd.duration == paused.duration)
            #expect(atEnd.remaining == 0)
            let expected = before + Int64((remaining * Double(48_000)).rounded())
            #expect(report.frames == expected)
            // What the capture heard is what was told to be played.
            let heard = capture.channels[0]
            let sounding = heard.count { $0 != 0 }
            if capture.irregularities == 0 && report.underruns == 0 {
                #expect(abs(sounding - Int(report.frames)) < 100, "\(sounding) frames heard")
            }
        }

        /// Many stretchers take longer to be put in than is reckoned with: the change may come later, but nothing may be
        /// heard twice or be left out.
        @Test(.enabled(if: !isSanitized))
        func `However many stretchers are put in, no place is heard twice`() async throws {
            let studio = try Studio()
            let signal = PlaceSignal(sampleRate: 48_000)
            try studio.write(signal.source(seconds: 4), to: "stem.wav", samples: .float32)
            let tracks = (0..<40).map { #"{ "id": "\#($0)", "file": "stem.wav", "volume": 0.025 }"# }
            let session = try studio.writeSession(
                """
                { "format": "backline-session/1", "sampleRate": 48000, "buses": [ { "id": "main", "channels": 1 } ],
                  "tracks": [ \(tracks.joined(separator: ",")) ] }
                """)
            let (capture, report) = try await EngineRun.capture(
                try SessionDocument(reading: session), on: startServer(period: 256), outputs: ["main.1"],
                seconds: 60
            ) { run in
                try await run.play()
                try await run.wait(untilAt: 1.05)
                try await run.engine.edit { $0.rate = 0.8 }
                try await run.waitForEnd()
            }
            let clicks = signal.clicks(capture.channels[0])
            let steps = zip(clicks, clicks.dropFirst()).map { Int($1 - $0) }
            print("live: 40 stretchers: \(report.underruns) underruns, clicks \(steps)")
            #expect(clicks.count == 40)
            // At rate 1 they are 4,800 frames apart, at 0.8 they are 6,000.
            #expect(steps.allSatisfy { (4_800 - 240...6_000 + 240).contains($0) })
        }

        // MARK: Refusals

        @Test
        func `On a server at whose sample rate nothing can be stretched a rate is refused, and it plays on`()
            async throws
        {
            let studio = try Studio()
            try studio.write(.noise(seed: 14, channels: 1, frames: 8_000), to: "stem.wav", sampleRate: 4_000)
            let session = try studio.writeSession(
                """
                { "format": "backline-session/1", "sampleRate": 4000, "tracks": [ { "file": "stem.wav" } ],
                  "buses": [ { "id": "main", "channels": 1 } ] }
                """)
            let (_, report) = try await EngineRun.capture(
                try SessionDocument(reading: session), on: startServer(period: 64, sampleRate: 4_000),
                outputs: ["main.1"], seconds: 1
            ) { run in
                try await run.play()
                let error = await #expect(throws: BacklineError.self) {
                    try await run.engine.edit { $0.rate = 0.8 }
                }
                #expect("\(error!)".contains("4000") && "\(error!)".contains("8000"), "\(error!)")
                #expect(await run.engine.session.rate == 1)
                try await run.engine.edit { $0.tracks[0].gain = 0.5 }
                try await run.waitForEnd()
            }
            #expect(report.frames == 8_000)
        }

        // MARK: Fixtures

        /// Plays `stem.wav` of a studio, a mono track of one mode, into the one output of a session.
        private func play(
            _ mode: RateMode, _ studio: Studio, rate: Double = 1, seconds: Double,
            _ body: (EngineRun) async throws -> Void
        ) async throws -> (capture: Capture, report: RunReport) {
            let session = try studio.writeSession(
                """
                { "format": "backline-session/1", "sampleRate": \(48_000), "rate": \(rate),
                  "tracks": [ { "file": "stem.wav", "rateMode": "\(mode.rawValue)" } ],
                  "buses": [ { "id": "main", "channels": 1 } ] }
                """)
            return try await EngineRun.capture(
                try SessionDocument(reading: session),
                on: startServer(period: 64, sampleRate: 48_000),
                outputs: ["main.1"], seconds: seconds, body)
        }
    }
}
