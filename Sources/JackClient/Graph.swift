import CJack
import Glibc

/// A port of a JACK graph, as it was when it was asked for.
public struct JackPort: Equatable, Sendable {
    /// Which way sound goes through a port.
    public enum Direction: Sendable {
        /// Sound enters the graph's client here: what an output may be connected to.
        case input
        /// Sound leaves the graph's client here.
        case output
    }

    /// Its full name, "CLIENT:PORT".
    public let name: String
    /// Whether sound enters its client here or leaves it.
    public let direction: Direction
    /// Whether it stands for a connector of a sound card.
    public let isPhysical: Bool
    /// Whether it carries audio; else MIDI or what else a server has.
    public let isAudio: Bool
    /// Full names of the ports that it is connected to.
    public let connections: [String]
}

// MARK: The graph

extension JackClient {
    /// All ports of the graph, in the server's order.
    public func listPorts() throws(JackError) -> [JackPort] {
        try requireServer()
        return portNames().compactMap { name in
            guard let port = unsafe jack_port_by_name(client, name) else { return nil }
            let flags = unsafe UInt32(jack_port_flags(port))
            return unsafe JackPort(
                name: name, direction: flags & JackPortIsInput.rawValue != 0 ? .input : .output,
                isPhysical: flags & JackPortIsPhysical.rawValue != 0,
                isAudio: String(cString: jack_port_type(port)) == JACK_DEFAULT_AUDIO_TYPE,
                connections: Self.strings(jack_port_get_all_connections(client, port)))
        }
    }

    /// Full names of the audio ports that lead to a sound card's outputs, in the card's order.
    public func physicalOutputs() throws(JackError) -> [String] {
        try requireServer()
        return portNames(
            type: JACK_DEFAULT_AUDIO_TYPE, flags: JackPortIsPhysical.rawValue | JackPortIsInput.rawValue)
    }

    /// Connects an output port to an input port; done already is no error. Names without a client, such as
    /// "main.1", mean ports of this client.
    public func connect(_ source: String, to target: String) throws(JackError) {
        try change("connect", source, target, besides: EEXIST) { source, target in
            unsafe jack_connect(client, source, target)
        }
    }

    /// Undoes a connection; throws if there is none.
    public func disconnect(_ source: String, from target: String) throws(JackError) {
        try change("disconnect", source, target, besides: 0) { source, target in
            unsafe jack_disconnect(client, source, target)
        }
    }

    private func change(
        _ verb: String, _ source: String, _ target: String, besides fine: CInt,
        by call: (String, String) -> CInt
    ) throws(JackError) {
        try requireServer()
        let connection = JackError.Connection(verb: verb, source: fullName(source), target: fullName(target))
        try check(connection.source, is: JackPortIsOutput, for: connection)
        try check(connection.target, is: JackPortIsInput, for: connection)
        JackLog.clear()
        let status = call(connection.source, connection.target)
        guard status != 0, status != fine else { return }
        try requireServer()
        let reason = JackLog.lastComplaint(otherwise: "the server did not say why")
        throw .connectionRefused(connection: connection, reason: reason)
    }

    /// Throws unless `name` is an audio port in the direction that its place in `connection` demands.
    private func check(
        _ name: String, is direction: JackPortFlags, for connection: JackError.Connection
    ) throws(JackError) {
        guard let port = unsafe jack_port_by_name(client, name) else {
            let candidates = portNames(type: JACK_DEFAULT_AUDIO_TYPE, flags: direction.rawValue)
            throw .noSuchPort(port: name, connection: connection, near: NearNames.of(name, in: candidates))
        }
        guard unsafe String(cString: jack_port_type(port)) == JACK_DEFAULT_AUDIO_TYPE else {
            throw .unsuitablePort(port: name, connection: connection, reason: "carries no audio")
        }
        guard unsafe UInt32(jack_port_flags(port)) & direction.rawValue != 0 else {
            let reason =
                direction == JackPortIsInput ? "is an output, not an input" : "is an input, not an output"
            throw .unsuitablePort(port: name, connection: connection, reason: reason)
        }
    }

    private func fullName(_ port: String) -> String {
        port.contains(":") ? port : "\(name):\(port)"
    }

    private func portNames(type: String? = nil, flags: UInt32 = 0) -> [String] {
        unsafe Self.strings(jack_get_ports(client, nil, type, UInt(flags)))
    }

    /// Takes a zero-terminated list of names from libjack, which is freed.
    private static func strings(_ list: UnsafeMutablePointer<UnsafePointer<CChar>?>?) -> [String] {
        guard let list = unsafe list else { return [] }
        defer { unsafe jack_free(list) }
        var strings: [String] = []
        while let string = unsafe list[strings.count] { unsafe strings.append(String(cString: string)) }
        return strings
    }
}
