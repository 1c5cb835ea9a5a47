import Foundation
import JackClient
import LiveSupport
import TestSupport
import Testing

extension LiveTests {
    @Suite struct PlayExactnessTests {
        @Test func `What is captured of play is what render writes, to the bit, on a synchronous server`()
            async throws
        {
            let fixture = try await SessionFixture()
            for period in [256, 1024] {
                let server = try startServer(period: period)
                let performance = try await Performance.play(
                    [fixture.session], on: server.name, outputs: fixture.outputs, seconds: 30)
                #expect(performance.status == 0)
                #expect(performance.losses.isEmpty)
                expectSame(performance, fixture)
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
            #expect(performance.status == 0)
            expectSame(performance, fixture)
            let freewheeling = performance.capture.callbacks.filter(\.isFreewheeling).count
            print("live: \(freewheeling) of \(performance.capture.callbacks.count) callbacks in freewheel")
            #expect(freewheeling * 1024 > 4 * 48_000)
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
    func checkGaps(against expected: [[Float]], _ what: String) throws -> GapCheck {
        let reanchorings = try #require(report["reanchorings"] as? Int)
        let check = GapCheck(capture, expected: expected, losses: losses, reanchorings: reanchorings)
        print(
            "live: \(what): \(capture.callbacks.count) callbacks, \(check.gaps.count) gaps,"
                + " \(check.tornCallbacks) torn, \(check.unheard) frames unheard; play told \(losses) and \(report["lateReadings"] ?? 0) late readings")
        for line in check.log + check.faults { print("live:   \(line)") }
        return check
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
