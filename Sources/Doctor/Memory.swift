extension MachineReport {
    /// Whether /dev/shm, through which JACK and its clients share sound, is there and large enough.
    static func sharedMemory(on machine: Machine) -> Finding {
        let finding = Subject(id: "shared-memory", title: "Shared memory")

        guard machine.exists("/dev/shm") else {
            return finding(
                .problem, "there is no /dev/shm, and JACK cannot do without",
                "sudo mkdir -p /dev/shm; sudo mount -t tmpfs -o mode=1777 tmpfs /dev/shm")
        }
        let mount = machine.lines("/proc/mounts").map { $0.split(separator: " ") }
            .last { $0.count > 3 && $0[1] == "/dev/shm" }
        let size = mount?[3].split(separator: ",").first { $0.hasPrefix("size=") && $0.hasSuffix("k") }
        guard let size, let kilobytes = UInt64(size.dropFirst(5).dropLast()) else {
            return finding(.ok, "/dev/shm, with no limit of its own")
        }
        let bytes = kilobytes << 10
        // jackd's registry of ports and clients is 105 MB.
        if bytes >= 128 << 20 { return finding(.ok, "/dev/shm of \(megabytes(bytes))") }
        return finding(
            .problem, "/dev/shm has only \(megabytes(bytes)), and a JACK server takes 105 MB",
            "sudo mount -o remount,size=1g /dev/shm; in a container: docker run --shm-size=1g …")
    }

    /// Whether the kernel is eager to swap.
    static func swap(on machine: Machine) -> Finding {
        let finding = Subject(id: "swap", title: "Swap")

        // Filename, Type, Size, Used (both in kB), Priority; compressed memory is no disk to wait for.
        let areas = machine.lines("/proc/swaps").dropFirst().map { $0.split(whereSeparator: \.isWhitespace) }
            .filter { $0.count >= 4 && !$0[0].hasPrefix("/dev/zram") }
        guard !areas.isEmpty else { return finding(.ok, "none on a disk") }
        let used = areas.compactMap { UInt64($0[3]) }.reduce(0, +) << 10
        let size = areas.compactMap { UInt64($0[2]) }.reduce(0, +) << 10
        let swappiness = machine.text("/proc/sys/vm/swappiness").flatMap { Int($0) } ?? 60
        let detail = "\(megabytes(size)), \(megabytes(used)) of it used; swappiness \(swappiness)"
        if swappiness <= 10 { return finding(.ok, detail) }
        return finding(
            used > 0 ? .warning : .note, detail,
            "sudo sysctl vm.swappiness=10; to keep it: vm.swappiness=10 in /etc/sysctl.d/90-audio.conf")
    }
}
