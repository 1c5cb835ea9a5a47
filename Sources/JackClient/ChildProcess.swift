import Glibc
import Synchronization

/// A program that this process runs, and that one of its threads waits for.
///
/// That thread starts it too: what `setpriv --pdeathsig` asks of the kernel is a signal when the *thread* that
/// started the child ends, so it must live as long as the child does.
final class ChildProcess: Sendable {
    private enum State {
        case starting
        case running(pid_t)
        case ended
    }

    private let state = Mutex(State.starting)
    private let started = Semaphore()
    private let ended = Semaphore()
    private let startError = Atomic<CInt>(0)
    /// A file without a name that takes what the child prints.
    private let output: CInt

    /// Runs `arguments`, the program first, searched in PATH; it reads nothing and is in a process group of its
    /// own, so that a terminal's ^C does not reach it. It gets the descriptor `inherited` besides its output.
    init(_ arguments: [String], inheriting inherited: CInt) {
        output = Self.temporaryFile()
        let thread = NativeThread { [self] in supervise(arguments, inheriting: inherited) }
        guard let thread else {
            startError.store(EAGAIN, ordering: .relaxed)
            ended.post()
            return
        }
        thread.detach()
        started.wait()
    }

    deinit {
        Glibc.close(output)
    }

    /// Its process; nil if it did not start or has ended.
    var process: pid_t? {
        state.withLock { if case .running(let process) = $0 { process } else { nil } }
    }

    /// Why it did not start; nil if it did.
    var startFailure: String? {
        let error = startError.load(ordering: .relaxed)
        return error == 0 ? nil : unsafe String(cString: strerror(error))
    }

    /// Waits for its end, at most `seconds`.
    func hasEnded(within seconds: Double) -> Bool {
        guard ended.wait(atMost: seconds) else { return false }
        ended.post()
        return true
    }

    /// Ends it: SIGTERM, and SIGKILL where that has not ended it within `patience` seconds.
    func stop(patience: Double) {
        send(SIGTERM)
        if hasEnded(within: patience) { return }
        send(SIGKILL)
        ended.wait()
        ended.post()
    }

    /// The lines that it printed.
    var log: [String] {
        var text: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while case let count = unsafe pread(output, &chunk, chunk.count, text.count), count > 0 {
            text += chunk[..<count]
        }
        return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// A descriptor that children do not inherit; -1 where there is no room for a file.
    private static func temporaryFile() -> CInt {
        guard let file = unsafe tmpfile() else { return -1 }
        defer { unsafe fclose(file) }
        return unsafe fcntl(fileno(file), F_DUPFD_CLOEXEC, 0)
    }

    /// Under the lock: its number is not another process's before it has been waited for.
    private func send(_ signal: CInt) {
        state.withLock { if case .running(let process) = $0 { kill(process, signal) } }
    }

    private func supervise(_ arguments: [String], inheriting inherited: CInt) {
        var process = pid_t()
        let error = spawn(arguments, inheriting: inherited, &process)
        startError.store(error, ordering: .relaxed)
        state.withLock { $0 = error == 0 ? .running(process) : .ended }
        started.post()
        if error == 0 {
            var information = unsafe siginfo_t()
            while unsafe waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) != 0 && errno == EINTR
            {}
            state.withLock {
                _ = waitpid(process, nil, 0)
                $0 = .ended
            }
        }
        ended.post()
    }

    private func spawn(_ arguments: [String], inheriting inherited: CInt, _ process: inout pid_t) -> CInt {
        var files = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&files)
        defer { unsafe posix_spawn_file_actions_destroy(&files) }
        unsafe posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&files, inherited, inherited)

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

        var strings = unsafe arguments.map { unsafe strdup($0) } + [nil]
        defer { unsafe strings.forEach { unsafe free($0) } }
        return unsafe posix_spawnp(&process, arguments[0], &files, &attributes, &strings, environ)
    }
}
