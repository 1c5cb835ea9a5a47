import Foundation
import RenderCore
import Testing

/// What jack-capture-frames heard: the independent judge.
struct Capture {
    /// One callback of the tool: the JACK frame of its first sample, and how many frames of it were kept.
    struct Callback {
        let jackFrame: JackFrame
        let frames: Int
    }

    /// For each channel its samples.
    let channels: [[Float]]
    let callbacks: [Callback]

    /// Starts the tool, which captures `frames` of `ports` from the moment when all are connected.
    static func start(_ ports: [String], frames: Int, server: String) throws -> Running {
        try Running(ports: ports, frames: frames, server: server)
    }

    /// The tool at work.
    final class Running {
        private let tool = Process()
        private let output = Pipe()
        private let folder: URL
        private let channelCount: Int

        fileprivate init(ports: [String], frames: Int, server: String) throws {
            folder = FileManager.default.temporaryDirectory.appending(path: "capture-\(UUID().uuidString)")
            channelCount = ports.count
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            tool.executableURL = Bundle.module.bundleURL.deletingLastPathComponent()
                .appending(path: "jack-capture-frames")
            tool.arguments = [
                "--server", server, "--ports", ports.joined(separator: ","), "--frames", "\(frames)",
                "--audio", folder.appending(path: "audio").path, "--log", folder.appending(path: "log").path,
                "--start-when-connected",
            ]
            tool.standardOutput = output
            try tool.run()
        }

        deinit {
            if tool.isRunning { tool.terminate() }
            try? FileManager.default.removeItem(at: folder)
        }

        /// Waits until it says that it is connected, or ends.
        func waitUntilConnected() throws {
            let said = try output.fileHandleForReading.read(upToCount: 6)
            try #require(said == Data("READY\n".utf8))
        }

        /// What it heard, once it has heard all that it was to.
        func finish() async throws -> Capture {
            try await waitUntil("the end of the capture") { !tool.isRunning }
            try #require(tool.terminationStatus == 0)
            let bytes = try Data(contentsOf: folder.appending(path: "audio"))
            let samples = unsafe [Float](unsafeUninitializedCapacity: bytes.count / 4) { buffer, count in
                count = unsafe bytes.copyBytes(to: buffer) / 4
            }
            let log = try String(contentsOf: folder.appending(path: "log"), encoding: .utf8)
            return Capture(
                channels: (0..<channelCount).map { channel in
                    stride(from: channel, to: samples.count, by: channelCount).map { samples[$0] }
                },
                callbacks: log.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
                    let fields = line.split(separator: " ").compactMap { UInt32($0) }
                    return Callback(jackFrame: JackFrame(fields[0]), frames: Int(fields[1]))
                })
        }
    }
}
