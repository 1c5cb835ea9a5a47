/// What can go wrong between Backline and a JACK server. Its description is one line for a person: what failed, on
/// what, why, and what mends it.
public enum JackError: Error, Equatable, Sendable, CustomStringConvertible {
    /// No server of that name accepts clients.
    case noServer(name: String?)
    /// A server runs and refused the client.
    case clientRefused(client: String, reason: String)
    /// A client or port name is longer than the server permits.
    case nameTooLong(name: String, limit: Int)
    /// The server did not register a port.
    case portRefused(port: String, reason: String)
    /// The server did not take the client into its graph.
    case notActivated(client: String, reason: String)
    /// Ports are registered before the client is activated.
    case alreadyActive(client: String)
    /// A port that a connection names does not exist; `near` are the most similar ones that do.
    case noSuchPort(port: String, connection: Connection, near: [String])
    /// A port that a connection names is there, but on the wrong side or of the wrong type.
    case unsuitablePort(port: String, connection: Connection, reason: String)
    /// The server refused to make or undo a connection.
    case connectionRefused(connection: Connection, reason: String)
    /// The server went away.
    case serverGone(reason: String)
    /// `--server` names a server that does not run, or `--silent` came with it.
    case serverUnusable(reason: String, remedy: String)
    /// Another program holds the sound card.
    case cardBusy(card: String, holder: String?)
    /// jackd was started and did not come up; `log` are its own last lines.
    case serverNotStarted(command: String, reason: String, log: [String])

    /// Two ports that are, or are to be, connected or disconnected.
    public struct Connection: Equatable, Sendable {
        /// What was tried: "connect" or "disconnect".
        public let verb: String
        /// The full name of the port that sound leaves.
        public let source: String
        /// The full name of the port that sound enters.
        public let target: String
    }

    /// One line for a person.
    public var description: String {
        switch self {
        case .noServer(let name):
            let server = name.map { "JACK server \"\($0)\"" } ?? "the default JACK server"
            return "cannot open \(server): none runs, or it is another user's; start one with jackd, or name"
                + " the one that runs with --server"
        case .clientRefused(let client, let reason):
            return "cannot open JACK client \"\(client)\": \(reason); see the server's own log"
        case .nameTooLong(let name, let limit):
            return "cannot use \"\(name)\" as a JACK name: it is longer than \(limit) bytes; shorten it"
        case .portRefused(let port, let reason):
            return
                "cannot register JACK port \"\(port)\": \(reason); use fewer or other ports, or start jackd"
                + " with a larger --port-max"
        case .notActivated(let client, let reason):
            return "cannot activate JACK client \"\(client)\": \(reason); see the server's own log"
        case .alreadyActive(let client):
            return "cannot register ports of JACK client \"\(client)\": it is active; deactivate it first"
        case .noSuchPort(let port, let connection, let near):
            let mend =
                near.isEmpty
                ? "list what there is with jack_lsp"
                : "did you mean \(near.map { "\"\($0)\"" }.joined(separator: " or "))?"
            return "\(connection): there is no port \"\(port)\"; \(mend)"
        case .unsuitablePort(let port, let connection, let reason):
            return "\(connection): \"\(port)\" \(reason); list what there is with jack_lsp"
        case .connectionRefused(let connection, let reason):
            return "\(connection): \(reason); see the server's own log"
        case .serverGone(let reason):
            return "the JACK server went away: \(reason); start it again"
        case .serverUnusable(let reason, let remedy):
            return "cannot use a JACK server: \(reason); \(remedy)"
        case .cardBusy(let card, let holder):
            return
                "cannot use sound card \(card): \(holder ?? "another program") holds it; stop that, or start"
                + " a JACK server on another card and name it with --server, or play without sound with --silent"
        case .serverNotStarted(let command, let reason, let log):
            let said = log.isEmpty ? "it said nothing" : "it said: " + log.joined(separator: " | ")
            return "cannot start \(command): \(reason), \(said); mend that, or name a server that runs with"
                + " --server"
        }
    }
}

extension JackError.Connection: CustomStringConvertible {
    /// The beginning of an error's line.
    public var description: String {
        "cannot \(verb) \"\(source)\" \(verb == "connect" ? "to" : "from") \"\(target)\""
    }
}
