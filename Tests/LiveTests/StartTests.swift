import Backline
import Foundation
import JackClient
import LiveSupport
import TestSupport
import Testing

extension LiveTests {
    @Suite struct StartTests {
        /// Half of the starts come after a stop, half after the end of all stems.
        @Test(arguments: [0, 777] as [Int64])
        func `32 players that start together are one impulse in one frame, a hundred times`(place: Int64)
            async throws
        {
            let starts = 100
            let fixture = try ImpulseFixture(at: place, frames: 3_000)
            let server = try startServer()
            let (capture, report) = try await EngineRun.capture(
                fixture.document, on: server, outputs: ["main.1"], seconds: 100
            ) { run in
                for start in 0..<starts {
                    try await run.play()
                    // 0.0625 s is where the stems end: the next start comes before the engine has told so.
                    try await run.wait(untilAt: start % 2 == 0 ? 0.0625 : 0.03)
                    if start % 2 == 1 { try await run.engine.stop() }
                }
            }
            expectWhole(Impulses(capture.channels[0]), count: starts, capture, lost: report.lostFrames)
        }

        @Test func `Behind the place where it stops it plays from the beginning, and a pause is no end`()
            async throws
        {
            let fixture = try ImpulseFixture(frames: 96_000)
            let server = try startServer()
            var options = Engine.Options()
            options.server = server.name
            options.to = 0.5
            let engine = try await Engine(fixture.document, options: options)
            var told: [String] = []
            try await engine.play()
            for await event in engine.events {
                switch event {
                case .started(let position):
                    told.append("started")
                    #expect(position < 0.3, "\(told)")
                    if told.count == 1 { try await engine.pause() }
                case .paused:
                    told.append("paused")
                    try await engine.play()
                case .ended(let position):
                    told.append("ended")
                    #expect(position >= 0.5 && position < 0.6)
                    if told.count > 5 { _ = await engine.close() } else { try await engine.play() }
                default: break
                }
            }
            #expect(told == ["started", "paused", "started", "ended", "started", "ended"])
        }

        @Test func `Ten runs of the program are ten impulses`() async throws {
            let fixture = try ImpulseFixture(frames: 3_000)
            let server = try startServer()
            let tool = try Capture.listen(channels: 1, frames: 48_000 * 60, server: server.name)
            var lost: Int64 = 0
            for _ in 0..<10 {
                let program = try Program([
                    "play", fixture.session, "--server", server.name, "--json", "--connect",
                    "main.1=\(tool.inputs[0])",
                ])
                let status = try await program.finish()
                let report = try #require(try program.objects().last, "\(program.complaints)")
                lost += Int64(report["lostFrames"] as? Int ?? 0)
                #expect(status == (lost == 0 ? 0 : 3))
            }
            let capture = try await tool.stop()
            expectWhole(Impulses(capture.channels[0]), count: 10, capture, lost: lost)
        }

        @Test func `A stem that is one frame late is noticed`() async throws {
            let fixture = try ImpulseFixture(frames: 3_000, late: 1)
            let server = try startServer()
            let performance = try await Performance.play(
                [fixture.session], on: server.name, outputs: ["main.1"], seconds: 30)
            let impulses = Impulses(performance.capture.channels[0])
            let heights: [Float] = [0.96875, 0.03125]
            #expect(impulses.all.map(\.height) == heights)
            #expect(impulses.distances == [1])
            #expect(impulses.partial.count == 2)
        }

        @Test func `32 players are on one frame after every locate, playing or not`() async throws {
            let fixture = try ImpulseFixture(every: 2_400, frames: 48_000)
            let server = try startServer()
            let locates = 24
            let (capture, report) = try await EngineRun.capture(
                fixture.document, on: server, outputs: ["main.1"], seconds: 100
            ) { run in
                var random = SplitMix(seed: 1)
                for locate in 0..<locates {
                    let place = locate % 3 == 0 ? 0 : Double.random(in: 0..<60, using: &random)
                    if locate % 4 == 3 {
                        try await run.engine.stop()
                        try await run.locate(to: place)
                        try await run.play()
                    } else {
                        if locate == 0 { try await run.play() }
                        try await run.locate(to: place)
                    }
                    try await run.wait(untilAt: place + 0.2)
                }
            }
            // A crossover or a fade lasts less than from one impulse to the next: it lowers two at most, and a stop or a
            // start each one.
            let impulses = Impulses(capture.channels[0])
            let odd = capture.irregularities
            print(
                "live: \(impulses.all.count) impulses, \(impulses.partial.count) of them in fades, after \(locates)"
                    + " locates; \(odd) irregular callbacks, \(report.lostFrames) frames lost")
            #expect(impulses.partial.count <= 3 * locates + odd)
            #expect(impulses.all.count - impulses.partial.count >= 2 * locates - odd)
            #expect(impulses.all.allSatisfy { $0.height > 0 && $0.height <= 1 })
            // Impulses of one stream are 2,400 frames apart: two that are nearer are of two streams, so not both whole,
            // and a stem that had come off would be at its distance every time.
            let near = impulses.distances.filter { $0 < 2_400 }
            #expect(near.count <= 2 * locates + odd)
            #expect(!near.contains { $0 < 3 })
        }

        @Test func `32 players are on one frame through every seam of a loop`() async throws {
            let fixture = try ImpulseFixture(every: 2_400, frames: 48_000)
            let server = try startServer()
            let performance = try await Performance.play(
                [fixture.session], on: server.name, outputs: ["main.1"], seconds: 60,
                ["--from", "0", "--loop", "0.25:0.5", "--seconds", "4"])
            let impulses = Impulses(performance.capture.channels[0])
            let odd = performance.capture.irregularities
            print("live: \(impulses.all.count) impulses in 15 loops, \(odd) irregular callbacks")
            #expect(abs(impulses.all.count - 80) <= 1 + odd)
            // The fade of the end may take the last one.
            #expect(impulses.partial.count <= 1)
            #expect(impulses.distances.count { $0 != 2_400 } <= odd)
        }

        @Test func `32 players are on one frame after the program was stopped for 60 ms and for 1 s`()
            async throws
        {
            let fixture = try ImpulseFixture(every: 2_400, frames: 48_000)
            let server = try startServer(period: 1024, synchronous: false)
            let performance = try await Performance.play(
                [fixture.session], on: server.name, outputs: ["main.1"], seconds: 60,
                ["--seconds", "6"]
            ) { program in
                for milliseconds in [60, 1000] {
                    let lost = try program.objects().count { $0["event"] as? String == "lost" }
                    try await program.stall(milliseconds: milliseconds)
                    try await program.wait(for: "lost", count: lost + 1)
                }
            }
            let impulses = Impulses(performance.capture.channels[0])
            let odd = performance.capture.irregularities
            let underruns = performance.report["underruns"] as? Int ?? 0
            print(
                "live: \(impulses.all.count) impulses, \(impulses.partial.count) of them in fades;"
                    + " lost \(performance.losses), \(underruns) underruns, \(odd) irregular callbacks")
            #expect(performance.losses.reduce(0, +) >= 48_000)
            #expect(performance.status == 3)
            // Whole impulses before, between and after; a player that lacked data comes back by a fade of its own.
            #expect(impulses.all.count - impulses.partial.count >= 60 - odd)
            #expect(impulses.partial.count <= (underruns > 0 ? 8 : 1) + odd)
            #expect(!impulses.distances.contains { $0 < 3 })
            let last = impulses.all.suffix(12).dropLast()
            #expect(last.filter { $0.height == 1 }.count >= 11 - odd)
        }
    }
}

/// Expects `count` impulses, all of them whole; where the server lost time, one may be missing for every callback that
/// says so, but none may be in parts.
private func expectWhole(
    _ impulses: Impulses, count: Int, _ capture: Capture, lost: Int64,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let odd = capture.irregularities
    print("live: \(impulses.all.count) of \(count) impulses; \(odd) irregular callbacks, \(lost) frames lost")
    #expect(impulses.partial.isEmpty, sourceLocation: sourceLocation)
    #expect(impulses.all.count <= count, sourceLocation: sourceLocation)
    #expect(impulses.all.count >= count - odd, sourceLocation: sourceLocation)
}
