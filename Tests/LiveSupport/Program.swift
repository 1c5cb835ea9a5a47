import Foundation
import Testing

/// The program `backline` at work.
public final class Program {
    private let process = Process()
    private let folder: URL
    private var output: URL { folder.appending(path: "output") }
    private var errors: URL { folder.appending(path: "errors") }

    /// Runs `backline` with `arguments`.
    public init(_ arguments: [String]) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "program-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        process.executableURL = try builtProgram("backline")
        process.arguments = arguments
        for file in [output, errors] { try Data().write(to: file) }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: errors)
        try process.run()
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        try? FileManager.default.removeItem(at: folder)
    }

    /// Its process.
    public var processID: pid_t { process.processIdentifier }

    /// What it said on standard error.
    public var complaints: String { (try? String(contentsOf: errors, encoding: .utf8)) ?? "" }

    /// The objects that it has printed, one a line.
    public func objects() throws -> [[String: Any]] {
        let text = try String(contentsOf: output, encoding: .utf8)
        return try text.split(separator: "\n", omittingEmptySubsequences: true)
            .prefix(text.filter { $0 == "\n" }.count)
            .map { line in
                let value = try JSONSerialization.jsonObject(with: Data(line.utf8))
                return try #require(value as? [String: Any])
            }
    }

    /// Waits until it has told of `event` for the `count`th time.
    public func wait(for event: String, count: Int = 1) async throws {
        try await waitUntil("\(event) of backline; it said \(complaints)") {
            let seen = try objects().count { $0["event"] as? String == event }
            try #require(seen >= count || process.isRunning, "it ended: \(complaints)")
            return seen >= count
        }
    }

    /// Waits for its end, and returns its status.
    public func finish() async throws -> Int32 {
        try await waitUntil("the end of backline; it said \(complaints)", within: .seconds(60)) {
            !process.isRunning
        }
        return process.terminationStatus
    }

    /// Sends it a signal.
    public func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

    /// Stops it for `milliseconds`, counted from the moment when all of its threads stand still.
    public func stall(milliseconds: Int) async throws {
        try await stallProcess(process.processIdentifier, milliseconds: milliseconds)
    }
}

/// Stops a process for `milliseconds`, counted from the moment when all of its threads stand still.
public func stallProcess(_ process: pid_t, milliseconds: Int) async throws {
    kill(process, SIGSTOP)
    defer { kill(process, SIGCONT) }
    try await waitUntil("process \(process) to stop") {
        let tasks = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")
        return tasks.allSatisfy { task in
            let stat = try? String(contentsOfFile: "/proc/\(process)/task/\(task)/stat", encoding: .utf8)
            return stat?.split(separator: ")").last?.hasPrefix(" T") ?? true
        }
    }
    try await Task.sleep(for: .milliseconds(milliseconds))
}
