import Glibc

/// Which JACK server to play through.
public enum ServerChoice: Equatable, Sendable {
    /// One that runs; nil is the default one.
    case running(name: String?)
    /// PipeWire's: replace this process by `arguments`, which run it again with PipeWire's libjack.
    case pipeWire(arguments: [String])
    /// A private jackd on a sound card.
    case soundCard(SoundCard)
    /// A private jackd whose driver keeps time and makes no sound.
    case dummy

    /// What a choice depends on, so that a test can set all of it.
    public struct Surroundings {
        /// The environment.
        public var environment: [String: String]
        /// This process's own arguments, the program first.
        public var arguments: [String]
        /// Where /proc, /usr and the PipeWire socket are.
        public var root = "/"
        /// Whether a server of that name (nil: the default one) accepts clients.
        public var accepts: (_ server: String?) -> Bool = { JackServer.accepts($0) }

        /// An environment and a process's arguments, in this machine unless changed.
        public init(environment: [String: String], arguments: [String]) {
            self.environment = environment
            self.arguments = arguments
        }
    }

    /// Chooses: the server that runs; else PipeWire's; else a sound card; else, where there is none, the dummy
    /// driver, which the caller says plainly.
    ///
    /// - Parameters:
    ///   - server: the server that the user named.
    ///   - silent: the user asks for the dummy driver.
    /// - Throws: a named server that does not run, PipeWire without its libjack, and a card that another program
    ///   holds, each with its remedy: silence is never what somebody gets who asked for sound.
    public static func choose(
        server: String?, silent: Bool, in surroundings: Surroundings
    ) throws(JackError) -> ServerChoice {
        if let server {
            guard !silent else {
                throw .serverUnusable(
                    reason: "--server \(server) and --silent exclude each other",
                    remedy: "leave one of them out")
            }
            guard surroundings.accepts(server) else { throw .noServer(name: server) }
            return .running(name: server)
        }
        if silent { return .dummy }
        if surroundings.accepts(nil) { return .running(name: nil) }
        if surroundings.pipeWireRuns { return try surroundings.throughPipeWire() }
        let cards = SoundCard.all(root: surroundings.root)
        guard let card = cards.first(where: { $0.holder(root: surroundings.root) == nil }) ?? cards.first
        else {
            return .dummy
        }
        if let holder = card.holder(root: surroundings.root) {
            throw .cardBusy(card: "\(card.name) (\(card.alsaName))", holder: holder)
        }
        return .soundCard(card)
    }
}

extension ServerChoice.Surroundings {
    /// Whether this user's PipeWire listens.
    var pipeWireRuns: Bool {
        guard let folder = environment["PIPEWIRE_RUNTIME_DIR"] ?? environment["XDG_RUNTIME_DIR"] else {
            return false
        }
        return exists("\(folder)/\(environment["PIPEWIRE_REMOTE"] ?? "pipewire-0")")
    }

    /// This program again, through `pw-jack`; an error if that is not there or has been tried.
    func throughPipeWire() throws(JackError) -> ServerChoice {
        if environment["LD_LIBRARY_PATH"]?.contains("pipewire") == true {
            throw .serverUnusable(
                reason: "PipeWire runs, but its libjack gets no connection",
                remedy: "see systemctl --user status pipewire, or play without sound with --silent")
        }
        let path = environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
        let script = path.split(separator: ":").map { "\($0)/pw-jack" }.first(where: exists)
        guard let script else {
            throw .serverUnusable(
                reason: "PipeWire runs here and its JACK library is not installed",
                remedy: "apt install pipewire-jack, or start jackd and name it with --server")
        }
        return .pipeWire(arguments: [script] + arguments)
    }

    private func exists(_ path: String) -> Bool {
        unsafe access(root == "/" ? path : root + path, F_OK) == 0
    }
}
