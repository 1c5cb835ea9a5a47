import AudioFiles
import Foundation
import LiveSupport
import TestSupport
import Testing

/// A folder with a session and its stems.
final class Studio {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "studio-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func path(_ name: String) -> String { folder.appending(path: name).path }

    /// Writes a sound file; what it is follows from its name.
    func write(
        _ source: SignalSource, to name: String, samples: SampleFormat = .int24, sampleRate: Int = 48_000
    ) throws {
        let format = try #require(SoundFileFormat(extensionOf: name))
        let writer = try SoundFileWriter(
            path: path(name), format: format, samples: samples, channelCount: source.channelCount,
            sampleRate: sampleRate)
        let count = Int(source.frameCount)
        var buffer = [Float](repeating: 0, count: count * source.channelCount)
        try unsafe buffer.withUnsafeMutableBufferPointer {
            _ = unsafe try source.read(from: 0, into: $0.baseAddress!, count: count)
            unsafe try writer.write($0.baseAddress!, count: count)
        }
        try writer.finish()
    }

    /// Writes `session.backline.json`, and returns its path.
    func writeSession(_ text: String) throws -> String {
        let path = path("session.backline.json")
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    /// What `backline render` makes of a session's bus, a channel an array.
    func render(
        _ session: String, bus: String = "main", sampleRate: Int = 48_000, _ arguments: [String] = []
    ) async throws -> [[Float]] {
        let file = path("\(bus)-\(UUID().uuidString).wav")
        let program = try Program(
            ["render", session, "-o", file, "--bits", "32f", "--bus", bus, "--json"] + arguments)
        try #require(await program.finish() == 0, "\(program.complaints)")
        let source = try SoundFileSource(path: file, sampleRate: sampleRate)
        return try (0..<source.channelCount).map {
            try samples(source, channel: $0, frames: Int(source.frameCount))
        }
    }
}

/// What came of `backline play` while the independent tool captured it.
struct Performance {
    let capture: Capture
    let status: Int32
    /// The report that ends `--events`.
    let report: [String: Any]
    let events: [[String: Any]]

    /// The frames that it told to be lost, in order.
    var losses: [Int] {
        events.filter { $0["event"] as? String == "lost" }.compactMap { $0["frames"] as? Int }
    }

    /// Plays `session` on `server` with `outputs` captured, a channel each, from before the start to the end;
    /// `meanwhile` is what happens to it in between.
    static func play(
        _ session: [String], on server: String, outputs: [String], seconds: Double,
        _ arguments: [String] = [], meanwhile: (Program) async throws -> Void = { _ in }
    ) async throws -> Performance {
        let tool = try Capture.listen(
            channels: outputs.count, frames: Int(48_000 * seconds), server: server)
        let connections = zip(outputs, tool.inputs).flatMap { ["--connect", "\($0)=\($1)"] }
        let program = try Program(
            ["play"] + session + ["--server", server, "--events"] + connections + arguments)
        try await program.wait(for: "started")
        try await meanwhile(program)
        let status = try await program.finish()
        let events = try program.objects()
        let last = try #require(events.last, "\(program.complaints)")
        let report = try #require(last["report"] as? [String: Any])
        return Performance(capture: try await tool.stop(), status: status, report: report, events: events)
    }
}
