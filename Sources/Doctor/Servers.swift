extension MachineReport {
    /// Which JACK servers run, PipeWire's among them.
    static func servers(on machine: Machine) -> Finding {
        let finding = Subject(id: "jack-server", title: "JACK server")

        let jackd = machine.jackSockets()
        let pipeWire = machine.pipeWireSocket()
        var seen = jackd.running.map { "jackd \"\($0)\"" }
        if let pipeWire { seen.append("PipeWire (\(pipeWire))") }

        if let wanted = machine.environment["JACK_DEFAULT_SERVER"], !jackd.running.contains(wanted),
            !seen.isEmpty
        {
            return finding(
                .warning,
                "JACK_DEFAULT_SERVER names \"\(wanted)\", which does not run; running: "
                    + seen.joined(separator: ", "),
                "unset JACK_DEFAULT_SERVER, or start that server: jackd -n \(wanted) -d alsa")
        }
        if !seen.isEmpty { return finding(.ok, "running: " + seen.joined(separator: ", ")) }
        if !jackd.others.isEmpty {
            return finding(
                .note,
                "none runs for this user, who cannot reach jackd \(jackd.others.joined(separator: ", "))",
                "end that one, or play as its user")
        }
        if !jackd.dead.isEmpty {
            return finding(
                .warning,
                "none runs; left over from one that died: " + jackd.dead.joined(separator: ", "),
                "rm " + jackd.dead.joined(separator: " "))
        }
        return finding(
            .note, "none runs; `backline play` starts one of its own and ends it",
            "to keep one running: jackd -d alsa -d hw:NAME -r 48000 -p 256")
    }
}

extension Machine {
    /// The servers whose socket in /dev/shm is listened to, by name, this user's and others'; and the sockets
    /// that nobody listens to, by path.
    ///
    /// jackd names its socket `jack_SERVER_UID_N` (JackSocket::BuildName in jack2's posix/JackSocket.cpp).
    fileprivate func jackSockets() -> (running: [String], others: [String], dead: [String]) {
        var running: [String] = []
        var others: [String] = []
        var dead: [String] = []
        let uid = status("Uid").dropFirst().first
        for name in names(in: "/dev/shm") where name.hasPrefix("jack_") {
            let parts = name.split(separator: "_", omittingEmptySubsequences: false)
            guard parts.count >= 4, parts.suffix(2).allSatisfy({ Int($0) != nil }) else { continue }
            let path = "/dev/shm/\(name)"
            let server = parts[1..<(parts.count - 2)].joined(separator: "_")
            if !isListening(path) {
                dead.append(path)
            } else if uid == nil || parts[parts.count - 2] == uid {
                running.append(server)
            } else {
                others.append("\"\(server)\" of user \(parts[parts.count - 2])")
            }
        }
        return (running, others, dead)
    }

    /// The path of PipeWire's socket, where it runs for this user.
    fileprivate func pipeWireSocket() -> String? {
        let folder = environment["PIPEWIRE_RUNTIME_DIR"] ?? environment["XDG_RUNTIME_DIR"]
        guard let folder else { return nil }
        let path = "\(folder)/\(environment["PIPEWIRE_REMOTE"] ?? "pipewire-0")"
        return exists(path) && isListening(path) ? path : nil
    }

    /// Whether /proc/net/unix shows the socket as accepting connections (flag 0x10000).
    ///
    /// Where that list cannot be read, the file itself has to be enough.
    private func isListening(_ path: String) -> Bool {
        guard let table = text("/proc/net/unix") else { return true }
        return table.split(separator: "\n").contains { line in
            let words = line.split(separator: " ", maxSplits: 7, omittingEmptySubsequences: true)
            guard words.count == 8, let flags = UInt32(words[3], radix: 16) else { return false }
            return words[7] == path && flags & 0x10000 != 0
        }
    }
}
