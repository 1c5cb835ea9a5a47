import Foundation
import Testing

/// A private jackd on its dummy driver, which no other test and nobody's program uses; ends with the last reference.
///
/// This process opens no client in it: libjack knows one server a process, and other tests have theirs.
final class Server: Sendable {
    let name: String
    private let jackd: Running
    private let lock: Int32
    private let bench: Bench

    /// Starts it and waits until it accepts clients.
    static func start(in bench: Bench, period: Int = 256) async throws -> Server {
        let server = try Server(in: bench, period: period)
        try await bench.tool("jack_wait", "-s", server.name, "-w", "-t", "20")
        return server
    }

    private init(in bench: Bench, period: Int) throws {
        // JACK has eight names for the whole machine, and those of a server that was killed stay taken: the names,
        // and the locks on them, are the ones that the program itself uses.
        var held: Int32 = -1
        var number = 0
        for candidate in (1...8).reversed() where held < 0 {
            let path = "/tmp/backline-\(getuid())-\(candidate).lock"
            let file = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            if flock(file, LOCK_EX | LOCK_NB) == 0 { (held, number) = (file, candidate) } else { close(file) }
        }
        try #require(held >= 0, "a free name for a server")
        lock = held
        name = "backline-\(number)"
        self.bench = bench
        // When this process ends, in whatever way, `read` ends, and the server with it.
        let script = """
            jackd -n \(name) -r -S -d dummy -C 0 -P 2 -r 48000 -p \(period) > /dev/null 2>&1 &
            echo $!; read end; kill $!; wait $!
            """
        jackd = try Program.start(["bash", "-c", script], in: bench, cleansUp: true)
    }

    deinit {
        send(SIGCONT)
        send(SIGTERM)
        let deadline = ContinuousClock.now + .seconds(5)
        while isRunning, ContinuousClock.now < deadline { usleep(2_000) }
        send(SIGKILL)
        close(lock)
    }

    private var process: pid_t? { pid_t(jackd.output.split(separator: "\n").first ?? "") }
    private var isRunning: Bool { process.map { kill($0, 0) == 0 } ?? false }

    func send(_ signal: Int32) {
        if let process { kill(process, signal) }
    }

    /// The ports that `port` is connected to.
    func connections(of port: String) async throws -> [String] {
        let list = try await Program.start(["jack_lsp", "-s", name, "-c"], in: bench).ending().output
        let lines = list.split(separator: "\n")
        guard let start = lines.firstIndex(of: Substring(port)) else { return [] }
        return lines[(start + 1)...].prefix { $0.hasPrefix(" ") }
            .map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
