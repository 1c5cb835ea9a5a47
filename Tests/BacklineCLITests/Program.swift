import Foundation
import Testing

/// The built program, run as a person runs it: by its command line, in a process of its own.
enum Program {
    /// It lies beside the test program.
    static let path = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appending(path: "backline").path

    /// How a run ended.
    struct Ending {
        /// The exit status; 0 where a signal ended it.
        let status: Int32
        /// The signal that ended it: a crash, unless the test sent it.
        let signal: Int32?
        let output: String
        let errors: String

        /// Standard output as one JSON object.
        func json(sourceLocation: SourceLocation = #_sourceLocation) throws -> [String: Any] {
            try #require(
                try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any],
                "one JSON object", sourceLocation: sourceLocation)
        }
    }

    /// Runs it to its end.
    static func run(
        _ arguments: String..., in bench: Bench, environment: [String: String] = [:],
        within limit: Duration = .seconds(60), sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Ending {
        try await run(
            arguments, in: bench, environment: environment, within: limit, sourceLocation: sourceLocation)
    }

    /// Runs it to its end.
    static func run(
        _ arguments: [String], in bench: Bench, environment: [String: String] = [:],
        within limit: Duration = .seconds(60), sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Ending {
        try await start([path] + arguments, in: bench, environment: environment)
            .ending(within: limit, sourceLocation: sourceLocation)
    }

    /// Starts a program, by default found in PATH, in the folder of `bench`.
    static func start(
        _ words: [String], in bench: Bench, environment: [String: String] = [:]
    ) throws -> Running {
        try Running(words, in: bench, environment: environment)
    }
}

/// A program at work. Its output goes to files, so that nothing waits for a reader; it ends with the last reference.
final class Running: @unchecked Sendable {
    private let process = Process()
    private let outputPath: String
    private let errorPath: String
    private let input = Pipe()

    fileprivate init(_ words: [String], in bench: Bench, environment: [String: String]) throws {
        let name = UUID().uuidString
        outputPath = bench.hidden("\(name).out")
        errorPath = bench.hidden("\(name).err")
        for path in [outputPath, errorPath] {
            _ = FileManager.default.createFile(atPath: path, contents: nil)
        }
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = words
        process.currentDirectoryURL = bench.folder
        // No server of this machine is found by default, whatever runs here.
        process.environment = ProcessInfo.processInfo.environment
            .merging(["JACK_DEFAULT_SERVER": "none-of-the-tests", "LC_ALL": "C.UTF-8"]) { $1 }
            .merging(environment) { $1 }
        process.standardOutput = FileHandle(forWritingAtPath: outputPath)
        process.standardError = FileHandle(forWritingAtPath: errorPath)
        process.standardInput = input
        try process.run()
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    var isRunning: Bool { process.isRunning }
    var output: String { (try? String(contentsOfFile: outputPath, encoding: .utf8)) ?? "" }
    var errors: String { (try? String(contentsOfFile: errorPath, encoding: .utf8)) ?? "" }

    /// The `--events` that it has told so far.
    var events: [[String: Any]] {
        output.split(separator: "\n").compactMap {
            try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }
    }

    /// The names of these events, in order.
    var eventNames: [String] { events.compactMap { $0["event"] as? String } }

    func send(_ signal: Int32) {
        kill(process.processIdentifier, signal)
    }

    /// Waits for its end; one that takes longer than `limit` hangs, and fails the test.
    func ending(
        within limit: Duration = .seconds(60), sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Program.Ending {
        do {
            try await eventually(
                "the end of \(process.arguments ?? [])", within: limit, sourceLocation: sourceLocation
            ) { !process.isRunning }
        } catch {
            kill(process.processIdentifier, SIGKILL)
            throw error
        }
        let isExit = process.terminationReason == .exit
        return Program.Ending(
            status: isExit ? process.terminationStatus : 0, signal: isExit ? nil : process.terminationStatus,
            output: output, errors: errors)
    }
}

/// Waits until `condition` holds; fails the test where it does not within a generous time.
func eventually(
    _ what: @autoclosure () -> String, within limit: Duration = .seconds(30),
    sourceLocation: SourceLocation = #_sourceLocation, _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + limit
    while try await !condition() {
        try #require(
            ContinuousClock.now < deadline, "never happened: \(what())", sourceLocation: sourceLocation)
        try await Task.sleep(for: .milliseconds(5))
    }
}
