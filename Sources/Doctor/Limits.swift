extension MachineReport {
    /// jackd asks for priority 10 by default and gives clients 5 less; distributions' rules grant 95.
    private static let enoughPriority: UInt64 = 20
    /// JACK's shared memory is 105 MB by itself; the rest is ours.
    private static let enoughLockedMemory: UInt64 = 256 << 20
    /// A stem is one open file: room for a session of 1,000 stems and for what a program needs besides.
    private static let enoughFiles: UInt64 = 2048

    /// CAP_IPC_LOCK and CAP_SYS_NICE of capabilities(7): with them the limits do not matter.
    private static let lockCapability = 14
    private static let niceCapability = 23

    /// Whether this process may run threads at real-time priority.
    static func realtimePriority(on machine: Machine, limits: ResourceLimits) -> Finding {
        let finding = Subject(id: "realtime-priority", title: "Real-time priority")

        if machine.text("/proc/sys/kernel/sched_rt_runtime_us") == "0" {
            return finding(
                .problem, "the kernel gives real-time threads no time (sched_rt_runtime_us is 0)",
                "sudo sysctl kernel.sched_rt_runtime_us=950000")
        }
        if machine.hasCapability(niceCapability) { return finding(.ok, "any (CAP_SYS_NICE)") }
        let limit = limits.realtimePriority
        guard let highest = limit.soft else { return finding(.ok, "any (no limit)") }
        if highest >= enoughPriority { return finding(.ok, "up to \(highest)") }
        return finding(
            highest == 0 ? .problem : .warning,
            (highest == 0 ? "not permitted" : "only up to \(highest), less than servers use")
                + ruleNote(on: machine, item: "rtprio"),
            (limit.hard ?? 99) >= enoughPriority
                ? "ulimit -r \(limit.hard ?? 99)" : ruleRemedy(on: machine, item: "rtprio", value: "95"))
    }

    /// Whether this user is in the group that Debian grants real-time priority and sound cards to.
    static func audioGroup(on machine: Machine, limits: ResourceLimits) -> Finding {
        let finding = Subject(id: "audio-group", title: "Group audio")

        if machine.isRoot { return finding(.ok, "root needs no group") }
        let add = "sudo usermod -aG audio \(machine.user), then log out and in"
        // Who may do all that the group's members may do, by another rule, lacks nothing but the cards' files.
        let permitted = (limits.realtimePriority.soft ?? .max) >= enoughPriority
        switch machine.audioMembership {
        case .inside: return finding(.ok, "\(machine.user) is a member")
        case .afterNextLogin:
            return finding(
                permitted ? .note : .warning, "\(machine.user) is a member, but not yet in this session",
                "log out and in")
        case .outside: return finding(permitted ? .note : .warning, "\(machine.user) is not a member", add)
        case .noSuchGroup:
            return finding(
                permitted ? .note : .warning, "there is none", "sudo groupadd --system audio; \(add)")
        }
    }

    /// Whether this process may lock its memory, so that nothing of it is swapped out.
    static func memoryLock(on machine: Machine, limits: ResourceLimits) -> Finding {
        let finding = Subject(id: "memory-lock", title: "Locked memory")

        if machine.hasCapability(lockCapability) { return finding(.ok, "any (CAP_IPC_LOCK)") }
        guard let most = limits.lockedMemory.soft else { return finding(.ok, "any (no limit)") }
        if most >= enoughLockedMemory { return finding(.ok, "up to \(megabytes(most))") }
        return finding(
            .warning,
            "only \(megabytes(most)), and JACK alone has 105 MB" + ruleNote(on: machine, item: "memlock"),
            (limits.lockedMemory.hard ?? .max) >= enoughLockedMemory
                ? "ulimit -l \(limits.lockedMemory.hard.map { "\($0 >> 10)" } ?? "unlimited")"
                : ruleRemedy(on: machine, item: "memlock", value: "unlimited"))
    }

    /// How many files this process may have open.
    static func openFiles(limits: ResourceLimits) -> Finding {
        let limit = limits.openFiles
        let finding = Subject(id: "open-files", title: "Open files")
        guard let soft = limit.soft, soft < enoughFiles else {
            return finding(.ok, limit.soft.map { "up to \($0)" } ?? "any number")
        }
        let canRaise = (limit.hard ?? .max) >= enoughFiles
        return finding(
            soft < 256 ? .warning : .note,
            "up to \(soft), one for each stem" + (limit.hard.map { "; may be raised to \($0)" } ?? ""),
            canRaise
                ? "for sessions of many stems: ulimit -n \(enoughFiles)"
                : "in /etc/security/limits.d/audio.conf: @audio - nofile \(enoughFiles)")
    }

    /// What the files of pam_limits say, as the end of a detail.
    private static func ruleNote(on machine: Machine, item: String) -> String {
        let rules = machine.limitRules(on: item)
        return rules.isEmpty ? "; no rule grants it" : "; a rule grants it: \(rules.joined(separator: ", "))"
    }

    /// What makes the rule, or makes it hold for this user.
    private static func ruleRemedy(on machine: Machine, item: String, value: String) -> String {
        let member = machine.audioMembership
        let join =
            member == .outside || member == .noSuchGroup ? "sudo usermod -aG audio \(machine.user); " : ""
        if machine.limitRules(on: item).isEmpty {
            // Debian's package carries the rules, switched off until it is asked to.
            let rule =
                machine.exists("/etc/security/limits.d/audio.conf.disabled")
                ? "sudo dpkg-reconfigure -p high jackd2 (answer yes); "
                : "in /etc/security/limits.d/audio.conf: @audio - \(item) \(value); "
            return rule + join + "then log out and in"
        }
        return join + (join.isEmpty ? "log out and in" : "then log out and in")
    }
}
