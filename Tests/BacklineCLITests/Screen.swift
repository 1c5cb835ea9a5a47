import Foundation
import Testing

/// A terminal of a size, by tmux, with the program in it; ends with the last reference.
final class Screen: Sendable {
    private let socket = "backline-\(UUID().uuidString)"
    private let bench: Bench

    /// Runs a program without the descriptors that Foundation gives it: tmux leaves a server behind that would keep
    /// them, and Foundation takes a process for running until they are closed.
    private static let closing = #"""
        for f in /proc/$$/fd/*; do n=${f##*/}; [ $n -gt 2 ] && [ $n != 255 ] && eval "exec $n>&-"; done
        exec "$0" "$@"
        """#

    /// Runs a shell's `command` in it, which leaves its exit status on the screen as `STATUS n`.
    init(_ command: String, columns: Int = 80, rows: Int = 24, in bench: Bench) async throws {
        self.bench = bench
        try await bench.tool(
            "bash", "-c", Self.closing, "tmux", "-u", "-L", socket, "-f", "/dev/null", "new-session", "-d",
            "-s", "s", "-x", "\(columns)",
            "-y",
            "\(rows)", "\(command); echo STATUS $?; stty -a | tr ';' '\\n' | grep -w icanon; exec cat")
    }

    deinit {
        let tmux = Process()
        tmux.executableURL = URL(filePath: "/usr/bin/env")
        tmux.arguments = ["tmux", "-L", socket, "kill-server"]
        tmux.standardError = FileHandle.nullDevice
        try? tmux.run()
        tmux.waitUntilExit()
    }

    /// Presses keys, by tmux's names.
    func press(_ keys: String...) async throws {
        for key in keys { try await bench.tool("tmux", "-L", socket, "send-keys", "-t", "s", key) }
    }

    /// What it shows, line by line.
    func lines() async throws -> [String] {
        let ending = try await Program.start(
            ["tmux", "-u", "-L", socket, "capture-pane", "-p", "-t", "s"], in: bench
        ).ending()
        return ending.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// Waits until what it shows fulfils `condition`, and returns that.
    @discardableResult func waitUntil(
        _ what: String, sourceLocation: SourceLocation = #_sourceLocation, _ condition: ([String]) -> Bool
    ) async throws -> [String] {
        var last: [String] = []
        try await eventually(
            "\(what) on\n\(last.joined(separator: "\n"))", sourceLocation: sourceLocation
        ) {
            last = try await lines()
            return condition(last)
        }
        return last
    }
}

extension [String] {
    /// Seconds of the line of the position.
    var position: Double? {
        for line in self {
            guard let found = line.firstMatch(of: /^[▶‖] (\d+):(\d+\.\d) \//) else { continue }
            return (Double(found.1) ?? 0) * 60 + (Double(found.2) ?? 0)
        }
        return nil
    }

    var isPlaying: Bool { contains { $0.hasPrefix("▶ ") } }
    var isPaused: Bool { contains { $0.hasPrefix("‖ ") } }

    func has(_ text: String) -> Bool { contains { $0.contains(text) } }

    /// The meter's line of a track, by its digit.
    func track(_ digit: Int) -> String { first { $0.hasPrefix("\(digit) ") } ?? "" }
}
