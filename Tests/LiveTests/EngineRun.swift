import Backline
import Foundation
import JackClient
import LiveSupport
import Synchronization
import Testing

/// An engine in this process, its outputs captured by the independent tool from before the start to the end.
final class EngineRun: Sendable {
    let engine: Engine
    private let heard = Mutex<[EngineEvent]>([])

    private init(_ engine: Engine) {
        self.engine = engine
    }

    /// Opens an engine, does `body` with it, and closes it.
    static func capture(
        _ document: SessionDocument, on server: JackServer, outputs: [String], seconds: Double,
        _ body: (EngineRun) async throws -> Void
    ) async throws -> (capture: Capture, report: RunReport) {
        let tool = try Capture.listen(
            channels: outputs.count, frames: Int(48_000 * seconds), server: server.name)
        var options = Engine.Options()
        options.server = server.name
        options.connections = zip(outputs, tool.inputs).map { ($0, $1) }
        let run = EngineRun(try await Engine(document, options: options))
        let listener = Task {
            for await event in run.engine.events { run.heard.withLock { $0.append(event) } }
        }
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(run))
        } catch {
            result = .failure(error)
        }
        let report = await run.engine.close()
        await listener.value
        try result.get()
        return (try await tool.stop(), report)
    }

    /// How many events so far `isMeant` accepts.
    func count(_ isMeant: (EngineEvent) -> Bool) -> Int { heard.withLock { $0.count(where: isMeant) } }

    /// How often it has started.
    var starts: Int { count { if case .started = $0 { true } else { false } } }

    /// How often it has gone to a place.
    var locates: Int { count { if case .located = $0 { true } else { false } } }

    /// How often it was paused.
    var pauses: Int { count { if case .paused = $0 { true } else { false } } }

    /// The places at which it came to an end, in seconds.
    var ends: [Double] {
        heard.withLock { $0.compactMap { if case .ended(let position) = $0 { position } else { nil } } }
    }

    /// The places that it has gone to, in seconds.
    var places: [Double] {
        heard.withLock { $0.compactMap { if case .located(let position) = $0 { position } else { nil } } }
    }

    /// Plays, and waits until it does.
    func play() async throws {
        let before = starts
        try await engine.play()
        try await waitUntil("a start") { starts > before }
    }

    /// Goes to a place, and waits until it is heard.
    func locate(to seconds: Double) async throws {
        let before = locates
        await engine.locate(to: seconds)
        try await waitUntil("a locate") { locates > before }
    }

    /// Whether it has come to an end, or stood still, since it last started.
    private var hasEnded: Bool {
        heard.withLock { events in
            let start = events.lastIndex { if case .started = $0 { true } else { false } }
            return events[(start ?? 0)...].contains {
                switch $0 {
                case .ended, .paused: true
                default: false
                }
            }
        }
    }

    /// Waits until it has come to an end.
    func waitForEnd() async throws {
        try await waitUntil("the end") { !ends.isEmpty }
    }

    /// Waits until it is at `position` or beyond, in seconds, or has ended.
    ///
    /// An event may be told before the block that it happened in is over, and with it the place before that block; so
    /// this waits until the place has changed.
    func wait(untilAt position: Double) async throws {
        let first = await engine.status.position
        try await waitUntil("\(position) s") {
            let now = await engine.status.position
            return hasEnded || now != first && now >= position
        }
    }
}
