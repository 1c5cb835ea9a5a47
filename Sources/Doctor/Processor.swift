extension MachineReport {
    /// Whether the processors' clocks may fall between one period and the next.
    static func governor(on machine: Machine) -> Finding {
        let finding = Subject(id: "cpu-governor", title: "CPU governor")

        let folder = "/sys/devices/system/cpu"
        var counts: [String: Int] = [:]
        var driver = ""
        for name in machine.names(in: folder) where name.hasPrefix("cpu") && Int(name.dropFirst(3)) != nil {
            guard let governor = machine.text("\(folder)/\(name)/cpufreq/scaling_governor") else { continue }
            counts[governor, default: 0] += 1
            driver = machine.text("\(folder)/\(name)/cpufreq/scaling_driver") ?? driver
        }
        guard !counts.isEmpty else {
            return finding(.ok, "no frequency scaling here (a virtual machine has none)")
        }
        let list = counts.sorted { $0.key < $1.key }.map { "\($0.key) on \(counted($0.value, "processor"))" }
        let detail = list.joined(separator: ", ") + (driver.isEmpty ? "" : " (\(driver))")
        if Set(counts.keys) == ["performance"] { return finding(.ok, detail) }
        // The pstate drivers' "powersave" scales with load; that of the others stays at the lowest clock.
        let stuck = counts["powersave"] != nil && !driver.contains("pstate")
        return finding(
            stuck ? .warning : .note, detail,
            "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor")
    }

    /// Whether the kernel lets go of a processor at once when a real-time thread wants it.
    static func kernel(on machine: Machine) -> Finding {
        let version = machine.text("/proc/version") ?? ""
        let words = version.split(separator: " ")
        let name = words.count > 2 && words[0] == "Linux" ? "Linux \(words[2])" : "an unknown kernel"
        let options = machine.text("/proc/cmdline")?.split(whereSeparator: \.isWhitespace) ?? []

        let finding = Subject(id: "kernel", title: "Kernel")

        if machine.text("/sys/kernel/realtime") == "1" || words.contains("PREEMPT_RT") {
            return finding(.ok, "\(name), real-time (PREEMPT_RT)")
        }
        let preempts =
            options.contains("preempt=full")
            || (words.contains("PREEMPT") && !options.contains("preempt=none"))
        let threads = options.contains("threadirqs")
        switch (preempts, threads) {
        case (true, true): return finding(.ok, "\(name), preemptible, interrupts in threads")
        case (true, false): return finding(.ok, "\(name), preemptible")
        default:
            let missing = threads ? "preempt=full" : "preempt=full threadirqs"
            return finding(
                .note, "\(name), not told to preempt fully" + (threads ? "; interrupts in threads" : ""),
                "add \(missing) to GRUB_CMDLINE_LINUX_DEFAULT in /etc/default/grub, "
                    + "then: sudo update-grub, reboot")
        }
    }
}
