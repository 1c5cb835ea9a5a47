import CJack
import Glibc
import Synchronization

/// Opening and closing clients, in the one way that libjack bears.
///
/// jack2's libjack keeps one server a process: a client of a second one silently gets the shared memory of the
/// first (seen: its period). So a process is bound to a server as long as it has a client there, and a client of
/// another one is refused.
enum LibJack {
    private struct Binding {
        var server: String
        var clients: Int
    }

    private static let binding = Mutex<Binding?>(nil)

    /// Opens a client on a server that runs; nil means `JACK_DEFAULT_SERVER`, else "default".
    static func open(_ name: String, server: String?) throws(JackError) -> OpaquePointer {
        try bind(to: server ?? defaultServer, client: name)
        JackLog.clear()
        var status = jack_status_t(0)
        guard let client = unsafe backline_jack_client_open(name, server, &status) else {
            unbind()
            throw openError(status, client: name, server: server)
        }
        return unsafe client
    }

    /// Closes a client. Can hang while its server restarts.
    static func close(_ client: OpaquePointer) {
        unsafe jack_client_close(client)
        unbind()
    }

    private static var defaultServer: String {
        guard let name = unsafe getenv("JACK_DEFAULT_SERVER") else { return "default" }
        return unsafe String(cString: name)
    }

    private static func bind(to server: String, client: String) throws(JackError) {
        let other = binding.withLock { binding -> String? in
            if let bound = binding, bound.server != server { return bound.server }
            binding = Binding(server: server, clients: (binding?.clients ?? 0) + 1)
            return nil
        }
        guard let other else { return }
        let reason = "libjack knows one server a process, and this one has a client on \"\(other)\""
        throw .clientRefused(client: client, reason: reason)
    }

    private static func unbind() {
        binding.withLock { binding in
            binding?.clients -= 1
            if binding?.clients == 0 { binding = nil }
        }
    }

    private static func openError(_ status: jack_status_t, client: String, server: String?) -> JackError {
        func has(_ flag: JackStatus) -> Bool { status.rawValue & flag.rawValue != 0 }
        if has(JackVersionError) {
            return .clientRefused(client: client, reason: "the server and libjack are of different versions")
        }
        if has(JackServerFailed) { return .noServer(name: server) }
        return .clientRefused(
            client: client, reason: JackLog.lastComplaint(otherwise: "the server says no more"))
    }
}
