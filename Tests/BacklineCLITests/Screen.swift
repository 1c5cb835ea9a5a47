import Foundation
import Testing

/// A terminal of a size, by tmux, with the program in it; ends with the last reference.
final class Screen: Sendable {
    private let socket = "backline-\(UUID().uuidString)"
    private let bench: Bench
    private let tmux: Running

    /// Runs a shell's `command` in it, which leaves its exit status on the screen as `STATUS n`.
    init(_ command: String, columns: Int = 80, rows: Int = 24, in bench: Bench) async throws {
        self.bench = bench
        let inside =
            "\(command); echo STATUS $?; stty -a | tr ';' '\\n' | grep -w icanon; exec cat"
        // When this process ends, in whatever way, `read` ends, and the terminal with it.
        let script = """
            tmux -u -L "$0" -f /dev/null new-session -d -s s -x \(columns) -y \(rows) "$1" && echo READY
            read end; tmux -L "$0" kill-server
            """
        let tmux = try Program.start(["bash", "-c", script, socket, inside], in: bench, cleansUp: true)
        self.tmux = tmux
        try await eventually("a terminal") { tmux.output == "READY\n" }
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
