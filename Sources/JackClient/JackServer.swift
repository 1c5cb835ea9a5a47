import Glibc

/// **Control:** a private jackd, a child of this process, which ends with it.
///
/// Nobody else's programs find it: it has a name of its own. It ends by `stop`, when the last reference goes, and,
/// since it is started through `setpriv --pdeathsig`, when this process dies in whatever way.
public final class JackServer: Sendable {
    /// What jackd plays through.
    public enum Driver: Equatable, Sendable {
        /// A device of a sound card.
        case card(SoundCard)
        /// None: it only keeps time.
        case dummy(outputs: Int)
    }

    /// The name that clients open.
    public let name: String
    /// Whether it runs with real-time priority; else the system does not permit that.
    public let isRealTime: Bool
    /// Its process; nil once it has ended.
    public var process: pid_t? { child.process }

    private let child: ChildProcess
    private let reservation: ServerName

    /// Starts jackd and waits until it accepts clients, 10 s at most.
    ///
    /// - Parameters:
    ///   - synchronous: every cycle waits for all clients: nothing is ever late, as tests want it.
    ///   - jackd: the program, searched in PATH.
    public init(
        driver: Driver, sampleRate: Int = 48000, period: Int = 1024, synchronous: Bool = false,
        jackd: String = "jackd"
    ) throws(JackError) {
        guard let reservation = ServerName() else {
            throw .serverNotStarted(command: jackd, reason: "eight private servers run already", log: [])
        }
        self.reservation = reservation
        name = reservation.name
        isRealTime = Self.isRealTimePermitted()
        var arguments = [jackd, "-n", name] + (isRealTime ? ["-R", "-P", "70"] : ["-r"])
        if synchronous { arguments.append("-S") }
        switch driver {
        case .card(let card): arguments += ["-d", "alsa", "-P", card.alsaName, "-n", "3"]
        case .dummy(let outputs): arguments += ["-d", "dummy", "-C", "0", "-P", "\(outputs)"]
        }
        arguments += ["-r", "\(sampleRate)", "-p", "\(period)"]
        let command = arguments.joined(separator: " ")
        child = ChildProcess(["setpriv", "--pdeathsig", "TERM"] + arguments, inheriting: reservation.lock)
        guard let failure = waitUntilItAccepts() else { return }
        stop()
        if case .card(let card) = driver, child.log.contains(where: { $0.contains("already in use") }) {
            throw .cardBusy(card: "\(card.name) (\(card.alsaName))", holder: card.holder())
        }
        throw .serverNotStarted(command: command, reason: failure, log: child.log.suffix(5))
    }

    deinit {
        stop()
    }

    /// Ends jackd: SIGTERM, and SIGKILL where that has not ended it within 3 s. When it returns jackd is gone.
    public func stop() {
        child.stop(patience: 3)
    }

    /// Whether a server of that name (nil: `JACK_DEFAULT_SERVER`, else "default") accepts clients.
    public static func accepts(_ server: String?) -> Bool {
        refusal(of: server) == nil
    }

    /// Why a server does not accept a client; nil if it does.
    private static func refusal(of server: String?) -> JackError? {
        do {
            unsafe LibJack.close(try LibJack.open("backline-probe", server: server))
            return nil
        } catch {
            return error
        }
    }

    /// Why jackd does not accept clients; nil once it does.
    private func waitUntilItAccepts() -> String? {
        if let failure = child.startFailure { return failure }
        let deadline = ContinuousClock.now + .seconds(10)
        while let refusal = Self.refusal(of: name) {
            if child.hasEnded(within: 0.02) {
                let isFull = child.log.contains { $0.contains("Too many servers") }
                return isFull ? Self.registryIsFull : "it ended at once"
            }
            if ContinuousClock.now > deadline { return "after 10 s it accepts no client (\(refusal))" }
        }
        return nil
    }

    private static let registryIsFull =
        "JACK's list of eight servers is full, perhaps of killed ones (where no jackd runs, remove"
        + " /dev/shm/jack-shm-registry)"

    /// Whether the system permits this user the priority that jackd gets: tried on a thread that ends at once.
    private static func isRealTimePermitted() -> Bool {
        let permitted = Semaphore()
        let thread = NativeThread {
            var priority = sched_param(sched_priority: 70)
            if unsafe sched_setscheduler(0, SCHED_FIFO, &priority) == 0 { permitted.post() }
        }
        thread?.join()
        return permitted.wait(atMost: 0)
    }
}

/// The name of a private server, reserved for as long as this exists or its jackd runs: a lock that both hold.
///
/// Names are used again, "backline-1" to "backline-8": JACK's list of servers has eight entries for the whole
/// machine, and the entry of a jackd that was killed is free only for the same name.
private final class ServerName: Sendable {
    let name: String
    let lock: CInt

    init?() {
        for number in 1...8 {
            let path = "/tmp/backline-\(getuid())-\(number).lock"
            let file = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            if flock(file, LOCK_EX | LOCK_NB) == 0 {
                name = "backline-\(number)"
                lock = file
                return
            }
            Glibc.close(file)
        }
        return nil
    }

    deinit {
        Glibc.close(lock)
    }
}
