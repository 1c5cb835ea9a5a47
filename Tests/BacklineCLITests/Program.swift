import Foundation
import Synchronization
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

    /// Starts a program, found in PATH, in the folder of `bench`. One that `cleansUp` is not killed at the end, but
    /// ends with its input.
    static func start(
        _ words: [String], in bench: Bench, environment: [String: String] = [:], cleansUp: Bool = false
    ) throws -> Running {
        try Running(words, in: bench, environment: environment, cleansUp: cleansUp)
    }
}

/// A program at work. Its output goes to files, so that nothing waits for a reader; its input ends, and it is killed,
/// with the last reference.
///
/// Foundation's Process is not used: it takes a program for running as long as anything that it left behind does.
final class Running: Sendable {
    private enum State {
        case running
        case ended(Int32)
    }

    private let words: [String]
    private let process: pid_t
    private let state = Mutex(State.running)
    private let outputPath: String
    private let errorPath: String
    private let input: Int32
    private let cleansUp: Bool

    fileprivate init(
        _ words: [String], in bench: Bench, environment: [String: String], cleansUp: Bool
    ) throws {
        self.words = words
        self.cleansUp = cleansUp
        let name = UUID().uuidString
        outputPath = bench.hidden("\(name).out")
        errorPath = bench.hidden("\(name).err")
        var ends: [Int32] = [-1, -1]
        let isOpen = unsafe pipe(&ends) == 0
        try #require(isOpen)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        input = ends[1]
        defer { close(ends[0]) }

        var files = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&files)
        defer { unsafe posix_spawn_file_actions_destroy(&files) }
        unsafe posix_spawn_file_actions_adddup2(&files, ends[0], 0)
        for (descriptor, path) in [(Int32(1), outputPath), (2, errorPath)] {
            let flags = O_WRONLY | O_CREAT | O_TRUNC
            unsafe posix_spawn_file_actions_addopen(&files, descriptor, path, flags, 0o600)
        }
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        var all = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))

        // No server of this machine is found by default, whatever runs here.
        let variables = ProcessInfo.processInfo.environment
            .merging(["JACK_DEFAULT_SERVER": "none-of-the-tests", "LC_ALL": "C.UTF-8"]) { $1 }
            .merging(environment) { $1 }
        var arguments = unsafe (["env", "-C", bench.folder.path] + words).map { unsafe strdup($0) } + [nil]
        var pairs = unsafe variables.map { unsafe strdup("\($0.key)=\($0.value)") } + [nil]
        defer {
            unsafe arguments.forEach { unsafe free($0) }
            unsafe pairs.forEach { unsafe free($0) }
        }
        var process = pid_t()
        let failure = unsafe posix_spawnp(&process, "env", &files, &attributes, &arguments, &pairs)
        self.process = process
        try #require(failure == 0, "\(words[0]) cannot be started")
    }

    deinit {
        close(input)
        if isRunning, !cleansUp { kill(process, SIGKILL) }
        if isRunning { _ = waitpid(process, nil, 0) }
    }

    var isRunning: Bool {
        state.withLock { state in
            guard case .running = state else { return false }
            var status: Int32 = 0
            guard unsafe waitpid(process, &status, WNOHANG) == process else { return true }
            state = .ended(status)
            return false
        }
    }

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
        if isRunning { kill(process, signal) }
    }

    /// Waits for its end; one that takes longer than `limit` hangs, and fails the test.
    func ending(
        within limit: Duration = .seconds(60), sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Program.Ending {
        do {
            try await eventually(
                "the end of \(words)", within: limit, sourceLocation: sourceLocation
            ) { !isRunning }
        } catch {
            kill(process, SIGKILL)
            throw error
        }
        let status: Int32 = state.withLock { state in
            guard case .ended(let status) = state else { return 0 }
            return status
        }
        let signal = status & 0x7F
        return Program.Ending(
            status: signal == 0 ? status >> 8 & 0xFF : 0, signal: signal == 0 ? nil : signal,
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
