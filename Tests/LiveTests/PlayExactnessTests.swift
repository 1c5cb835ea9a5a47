import Foundation
import JackClient
import LiveSupport
import RenderCore
import TestSupport
import Testing

extension LiveTests {
    /// A synchronous server waits for its clients and so loses no time, unless the machine takes it from the server
    /// itself: its frame counter says so, and then, and only then, is the music compared gap by gap.
    @Suite struct PlayExactnessTests {
        @Test func `What is captured of play is what render writes, to the bit, on a synchronous server`()
            async throws
        {
            let fixture = try await SessionFixture()
            for period in [256, 1024] {
                let server = try startServer(period: period)
                let performance = try await Performance.play(
                    [fixture.session], on: server.name, outputs: fixture.outputs, seconds: 30)
                try performance.expectExact(fixture, "period \(period), synchronous")
            }
        }

        @Test func `What is captured of play in freewheel is what render writes, to the bit`() async throws {
            let fixture = try await SessionFixture(seconds: 8)
            let server = try startServer(period: 1024)
            let performance = try await Performance.play(
                [fixture.session], on: server.name, outputs: fixture.outputs, seconds: 60
            ) { _ in
                let status = try runTool(["jack_freewheel", "y"], server: server.name)
                #expect(status == 0)
            }
            try performance.expectExact(fixture, "freewheel")
            // The music is 375 periods; freewheel does not wait for it to begin.
            let heard = try #require(performance.capture.channels[0].firstIndex { $0 != 0 }) / 1024
            let music = performance.capture.callbacks[heard..<heard + 375]
            let freewheeling = music.count(where: \.isFreewheeling)
            print("live: \(freewheeling) of the music's 375 periods in freewheel")
            #expect(freewheeling > 100)
        }

        @Test func `Changes of period while it plays lose no frame of the music`() async throws {
            let fixture = try await SessionFixture()
            for synchronous in [true, false] {
                let server = try startServer(period: 1024, synchronous: synchronous)
                let performance = try await Performance.play(
                    [fixture.session], on: server.name, outputs: fixture.outputs, seconds: 60
                ) { program in
                    for (count, period) in [64, 1024, 256].enumerated() {
                        try runTool(["jack_bufsize", "\(period)"], server: server.name)
                        try await program.wait(for: "period", count: count + 1)
                    }
                }
                let periods = Set(performance.capture.callbacks.map(\.frames))
                #expect(periods.isSuperset(of: [64, 256, 1024]))
                #expect(performance.report["reanchorings"] as? Int ?? 0 >= 3)
                try performance.expectExact(
                    fixture, comparesCounters: false,
                    "periods 1024, 64, 1024, 256, \(synchronous ? "" : "a")synchronous")
            }
        }

        @Test func `A server that stalls while it plays loses no frame of the music`() async throws {
            let fixture = try await SessionFixture()
            let server = try startServer(period: 256)
            let process = try #require(server.process)
            let performance = try await Performance.play(
                [fixture.session], on: server.name, outputs: fixture.outputs, seconds: 60
            ) { _ in
                for milliseconds in [60, 700] {
                    try await stallProcess(process, milliseconds: milliseconds)
                }
            }
            try performance.expectExact(fixture, "a server stopped for 60 and 700 ms")
        }

        @Test func `A program that was stopped for 60 ms skips exactly the time that the server lost`()
            async throws
        {
            let fixture = try await SessionFixture()
            let server = try startServer(period: 256, synchronous: false)
            let performance = try await Performance.play(
                [fixture.session], on: server.name, outputs: fixture.outputs, seconds: 60
            ) { program in
                try await program.stall(milliseconds: 60)
            }
            let check = try performance.checkGaps(
                against: fixture.expected, "period 256, asynchronous, stopped for 60 ms")
            #expect(check.faults.isEmpty)
            #expect(performance.losses.contains { $0 >= 2_304 })
            #expect(check.gaps.contains { $0 >= 2_304 })
        }

        @Test func `A difference that nobody recorded is noticed`() throws {
            let music = try samples(SignalSource.noise(seed: 9, frames: 9_600), frames: 9_600)
            func check(gapAt gap: Int, told: [Int], changing: Int? = nil) -> GapCheck {
                var heard = [Float](repeating: 0, count: 640)
                heard += music[..<3_200] + music[(3_200 + gap)...] + [Float](repeating: 0, count: 640)
                if let changing { heard[changing].negate() }
                var callbacks: [Capture.Callback] = []
                for k in 0..<heard.count / 64 {
                    let lost = 64 * k < 3_840 ? 0 : gap
                    callbacks.append(
                        Capture.Callback(jackFrame: JackFrame(UInt32(64 * k + lost)), frames: 64))
                }
                heard = Array(heard[..<(callbacks.count * 64)])
                return GapCheck(
                    Capture(channels: [heard], callbacks: callbacks), expected: [music], losses: told,
                    reanchorings: 0)
            }
            #expect(check(gapAt: 0, told: []).faults.isEmpty)
            #expect(check(gapAt: 128, told: [128]).faults.isEmpty)
            #expect(check(gapAt: 128, told: [128]).gaps == [128])
            #expect(!check(gapAt: 0, told: [], changing: 5_000).faults.isEmpty)
            #expect(!check(gapAt: 100, told: [64]).faults.isEmpty)
            #expect(!check(gapAt: 100, told: []).faults.isEmpty)
        }

        @Test func `Whatever time a server loses is lost in play and in the capture alike, and nothing else`()
            async throws
        {
            let fixture = try await SessionFixture()
            for (period, synchronous) in [(64, true), (64, false), (256, false), (1024, false)] {
                let server = try startServer(period: period, synchronous: synchronous)
                let performance = try await Performance.play(
                    [fixture.session], on: server.name, outputs: fixture.outputs, seconds: 30)
                let check = try performance.checkGaps(
                    against: fixture.expected, "period \(period), \(synchronous ? "" : "a")synchronous")
                #expect(check.faults.isEmpty)
            }
        }
    }
}

extension Performance {
    /// Compares what was captured with `expected`, and prints every gap.
    func checkGaps(against expected: [[Float]], comparesCounters: Bool = true, _ what: String) throws
        -> GapCheck
    {
        let reanchorings = try #require(report["reanchorings"] as? Int)
        let check = GapCheck(
            capture, expected: expected, losses: losses, reanchorings: reanchorings,
            comparesCounters: comparesCounters)
        print(
            "live: \(what): \(capture.callbacks.count) callbacks, \(check.gaps.count) gaps,"
                + " \(check.tornCallbacks) torn, \(check.unheard) frames unheard; play told \(losses) and \(report["lateReadings"] ?? 0) late readings"
        )
        for line in check.log + check.faults { print("live:   \(line)") }
        return check
    }
}

extension Performance {
    /// Expects what was captured to be what render wrote, to the bit; where the server itself lost time, but for gaps
    /// that were recorded.
    func expectExact(
        _ fixture: SessionFixture, comparesCounters: Bool = true, _ what: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let check = try checkGaps(against: fixture.expected, comparesCounters: comparesCounters, what)
        #expect(check.faults.isEmpty, sourceLocation: sourceLocation)
        let isClean =
            losses.isEmpty && check.tornCallbacks == 0
            && (comparesCounters ? capture.irregularities == 0 : check.gaps.isEmpty)
        #expect(status == (report["lostFrames"] as? Int == 0 ? 0 : 3), sourceLocation: sourceLocation)
        if isClean { expectSame(self, fixture, sourceLocation: sourceLocation) }
    }
}

/// Expects the capture to be silence, what render wrote, and silence.
private func expectSame(
    _ performance: Performance, _ fixture: SessionFixture, sourceLocation: SourceLocation = #_sourceLocation
) {
    func firstSound(_ channels: [[Float]]) -> Int? {
        channels.compactMap { $0.firstIndex { $0 != 0 } }.min()
    }
    guard let heard = firstSound(performance.capture.channels), let meant = firstSound(fixture.expected)
    else {
        Issue.record("nothing was heard", sourceLocation: sourceLocation)
        return
    }
    let lead = heard - meant
    for (channel, output) in fixture.outputs.enumerated() {
        let samples = performance.capture.channels[channel]
        let expected = fixture.expected[channel]
        let tail = samples.count - lead - expected.count
        #expect(
            lead > 0 && tail > 0, "\(output): the capture has \(samples.count) frames",
            sourceLocation: sourceLocation)
        guard lead > 0 && tail > 0 else { return }
        expectIdentical(
            samples,
            Array(repeating: 0, count: lead) + expected + Array(repeating: 0, count: tail), output,
            sourceLocation: sourceLocation)
    }
}
