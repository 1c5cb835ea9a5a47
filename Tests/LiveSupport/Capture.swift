import Foundation
public import RenderCore
import Testing

/// What jack-capture-frames heard: the independent judge.
public struct Capture: Sendable {
    /// One callback of the tool: the JACK frame of its first sample, and how many frames of it were kept.
    public struct Callback: Sendable {
        /// JACK's frame of the first sample.
        public let jackFrame: JackFrame
        /// Frames that were kept.
        public let frames: Int
        /// Xruns that were announced so far.
        public let xruns: Int
        /// Whether the server had begun another cycle before all was copied, so that others may have written over it.
        public let wasOvertaken: Bool
        /// Whether the server was in freewheel.
        public let isFreewheeling: Bool

        /// A callback as a test makes it up.
        public init(
            jackFrame: JackFrame, frames: Int, xruns: Int = 0, wasOvertaken: Bool = false,
            isFreewheeling: Bool = false
        ) {
            self.jackFrame = jackFrame
            self.frames = frames
            self.xruns = xruns
            self.wasOvertaken = wasOvertaken
            self.isFreewheeling = isFreewheeling
        }
    }

    /// For each channel its samples.
    public let channels: [[Float]]
    /// The callbacks in order.
    public let callbacks: [Callback]

    /// A capture as a test makes it up.
    public init(channels: [[Float]], callbacks: [Callback]) {
        self.channels = channels
        self.callbacks = callbacks
    }

    /// Callbacks after which the server's time went on by something else than their frames, or that were overtaken: in
    /// which sound may have been missed.
    public var irregularities: Int {
        var count = 0
        for (k, callback) in callbacks.enumerated() {
            let isOdd =
                k > 0 && Int(callback.jackFrame - callbacks[k - 1].jackFrame) != callbacks[k - 1].frames
            if isOdd || callback.wasOvertaken { count += 1 }
        }
        return count
    }

    /// Starts the tool, which captures `frames` of `ports` from the moment when all are connected.
    public static func start(_ ports: [String], frames: Int, server: String) throws -> Running {
        try Running(ports: ports, frames: frames, server: server, arguments: ["--start-when-connected"])
    }

    /// Starts the tool with inputs that others connect to, and waits until it listens: up to `frames` frames, or
    /// until `stop`.
    public static func listen(channels: Int, frames: Int, server: String) throws -> Running {
        let tool = try Running(
            ports: Array(repeating: "-", count: channels), frames: frames, server: server,
            arguments: ["--name", "capture", "--wait-for-signal"])
        try tool.waitUntilConnected()
        return tool
    }

    /// The tool at work.
    public final class Running {
        private let tool = Process()
        private let output = Pipe()
        private let folder: URL
        private let channelCount: Int
        /// The ports to connect to.
        public var inputs: [String] { (1...channelCount).map { "capture:in_\($0)" } }

        fileprivate init(ports: [String], frames: Int, server: String, arguments: [String]) throws {
            folder = FileManager.default.temporaryDirectory.appending(path: "capture-\(UUID().uuidString)")
            channelCount = ports.count
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            tool.executableURL = try builtProgram("jack-capture-frames")
            tool.arguments =
                [
                    "--server", server, "--ports", ports.joined(separator: ","), "--frames", "\(frames)",
                    "--audio", folder.appending(path: "audio").path, "--log",
                    folder.appending(path: "log").path, "--planar",
                ] + arguments
            tool.standardOutput = output
            tool.standardError = FileHandle.nullDevice
            try tool.run()
        }

        deinit {
            if tool.isRunning { kill(tool.processIdentifier, SIGKILL) }
            try? FileManager.default.removeItem(at: folder)
        }

        /// Waits until it says that it is connected, or ends.
        public func waitUntilConnected() throws {
            let said = try output.fileHandleForReading.read(upToCount: 6)
            try #require(said == Data("READY\n".utf8))
        }

        /// Ends it, and returns what it heard.
        public func stop() async throws -> Capture {
            tool.terminate()
            return try await finish()
        }

        /// What it heard, once it has heard all that it was to.
        public func finish() async throws -> Capture {
            try await waitUntil("the end of the capture") { !tool.isRunning }
            try #require(tool.terminationStatus == 0)
            let bytes = try Data(contentsOf: folder.appending(path: "audio"))
            let frames = bytes.count / 4 / channelCount
            let channels = (0..<channelCount).map { channel in
                unsafe [Float](unsafeUninitializedCapacity: frames) { buffer, count in
                    let first = channel * frames * 4
                    _ = unsafe bytes.copyBytes(to: buffer, from: first..<first + frames * 4)
                    count = frames
                }
            }
            let log = try String(contentsOf: folder.appending(path: "log"), encoding: .utf8)
            return Capture(
                channels: channels,
                callbacks: log.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
                    let fields = line.split(separator: " ").compactMap { UInt32($0) }
                    return Callback(
                        jackFrame: JackFrame(fields[0]), frames: Int(fields[1]), xruns: Int(fields[2]),
                        wasOvertaken: fields[3] != 0, isFreewheeling: fields[4] != 0)
                })
        }
    }
}
