import Foundation
public import JackClient
public import Testing

/// Tests with a server of their own, of all test targets: one after the other, since libjack knows one server a
/// process.
@Suite(.serialized, .timeLimit(.minutes(2))) public enum LiveTests {}

/// A private jackd on its dummy driver for one test; ends with the last reference to it.
///
/// JACK has eight servers a machine: where others use them all, it waits for one to end.
public func startServer(
    period: Int = 256, synchronous: Bool = true, sampleRate: Int = 48_000
) throws -> JackServer {
    let deadline = ContinuousClock.now + .seconds(60)
    while true {
        do {
            return try JackServer(
                driver: .dummy(outputs: 2), sampleRate: sampleRate, period: period, synchronous: synchronous)
        } catch {
            guard "\(error)".contains("eight"), ContinuousClock.now < deadline else { throw error }
        }
        Thread.sleep(forTimeInterval: 0.2)
    }
}

/// Waits until `condition` holds, and fails the test where it does not within a generous time.
public func waitUntil(
    _ what: String, within limit: Duration = .seconds(30), sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + limit
    while try await !condition() {
        try #require(
            ContinuousClock.now < deadline, "never happened: \(what)", sourceLocation: sourceLocation)
        try await Task.sleep(for: .milliseconds(2))
    }
}

/// Runs one of JACK's own tools against a server and returns its exit status.
@discardableResult public func runTool(_ arguments: [String], server: String) throws -> Int32 {
    let tool = Process()
    tool.executableURL = URL(filePath: "/usr/bin/env")
    tool.arguments = arguments
    tool.environment = ProcessInfo.processInfo.environment.merging(["JACK_DEFAULT_SERVER": server]) { $1 }
    tool.standardOutput = FileHandle.nullDevice
    tool.standardError = FileHandle.nullDevice
    try tool.run()
    tool.waitUntilExit()
    return tool.terminationStatus
}

/// A program of this package, built beside the tests.
public func builtProgram(_ name: String) throws -> URL {
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return URL(filePath: tests).deletingLastPathComponent().appending(path: name)
}
