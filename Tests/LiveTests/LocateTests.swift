import AudioFiles
import Backline
import Foundation
import JackClient
import LiveSupport
import TestSupport
import Testing

extension LiveTests {
    @Suite struct LocateTests {
        @Test func `Each of several locates in a moment is told with its own place`() async throws {
            let studio = try Studio()
            try studio.write(.noise(seed: 3, channels: 1, frames: 480_000), to: "noise.wav")
            let session = try studio.writeSession(
                """
                { "format": "backline-session/1", "sampleRate": 48000, "tracks": [ { "file": "noise.wav" } ] }
                """)
            let server = try startServer(period: 64)
            let places = (1...9).map { Double($0) }
            _ = try await EngineRun.capture(
                try SessionDocument(reading: session), on: server, outputs: ["main.1"], seconds: 1
            ) { run in
                try await waitUntil("the beginning") { run.places == [0] }
                for place in places { await run.engine.locate(to: place) }
                try await waitUntil("all locates") { run.places.count > places.count }
                #expect(run.places == [0] + places)
            }
        }

        @Test func `Locates while playing leave no silent frame, and a constant stays constant`() async throws
        {
            let studio = try Studio()
            let constant = SignalSource(channels: 1, frames: 48_000) { _, _ in 0.25 }
            try studio.write(constant, to: "constant.wav", samples: .float32)
            try studio.write(.noise(seed: 7, channels: 1, frames: 96_000), to: "noise.flac")
            let session = try studio.writeSession(
                """
                { "format": "backline-session/1", "sampleRate": 48000,
                  "tracks": [ { "id": "dc", "file": "constant.wav", "loops": -1, "output": "constant" },
                              { "id": "hiss", "file": "noise.flac", "loops": -1, "output": "noise" } ],
                  "buses": [ { "id": "constant", "channels": 1 }, { "id": "noise", "channels": 1 } ] }
                """)
            let server = try startServer()
            let locates = 20
            let (capture, report) = try await EngineRun.capture(
                try SessionDocument(reading: session), on: server, outputs: ["constant.1", "noise.1"],
                seconds: 60
            ) { run in
                try await run.play()
                var random = SplitMix(seed: 2)
                for locate in 0..<locates {
                    let place = locate % 4 == 3 ? 0 : Double.random(in: 0..<100, using: &random)
                    try await run.locate(to: place)
                    // Some come while the crossover of the last one is under way.
                    if locate % 3 == 0 { try await run.wait(untilAt: place + 0.1) }
                }
                await run.engine.setLoop(0.5..<0.75)
                try await run.locate(to: 0.6)
                try await run.wait(untilAt: 0.7)
            }
            let odd = capture.irregularities
            let level = capture.channels[0]
            let first = try #require(level.firstIndex { $0 != 0 })
            let last = try #require(level.lastIndex { $0 != 0 })
            let silent = [level, capture.channels[1]].map { $0[first...last].count { $0 == 0 } }
            print(
                "live: \(silent) silent frames among \(last - first + 1) with \(locates) locates; \(odd) irregular"
                    + " callbacks, \(report.lostFrames) frames lost")
            #expect(last - first > 48_000)
            #expect(silent[0] <= odd * 256)
            #expect(silent[1] <= odd * 256)
            // Like material crosses over at equal gain, so that nothing changes; but a file's first frame comes at once,
            // on top of what fades. The end may be cut: closing does not fade.
            let toBeginning = locates / 4
            let low = level[first...last].count { $0 < 0.249_999 }
            let high = level[first...last].count { $0 > 0.250_001 }
            #expect(low <= odd * 256)
            #expect(high <= toBeginning * 1_920)
            #expect(level[first...last].allSatisfy { $0 <= 0.500_001 })
            #expect(report.underruns == 0)
        }
    }
}
