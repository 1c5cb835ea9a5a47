import Doctor
import Testing

@Suite struct SharedMemoryTests {
    @Test func aLargeOneIsEnough() throws {
        let machine = try FakeMachine()
        #expect(try machine.finding("shared-memory").detail == "/dev/shm of 7812 MB")
        try machine.write("/proc/mounts", "tmpfs /dev/shm tmpfs rw 0 0\n")
        #expect(try machine.finding("shared-memory").severity == .ok)
    }

    @Test func aContainersSmallOneIsAProblem() throws {
        let machine = try FakeMachine()
        try machine.write("/proc/mounts", "shm /dev/shm tmpfs rw,nosuid,size=65536k,inode64 0 0\n")
        let finding = try machine.finding("shared-memory")
        #expect(finding.severity == .problem)
        #expect(finding.detail.contains("64 MB"))
        #expect(finding.remedy?.contains("remount,size=1g") == true)
    }

    @Test func noneIsAProblem() throws {
        let machine = try FakeMachine()
        try machine.remove("/dev/shm")
        let finding = try machine.finding("shared-memory")
        #expect(finding.severity == .problem)
        #expect(finding.remedy?.contains("mount -t tmpfs") == true)
    }
}

@Suite struct SwapTests {
    private static let header = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"

    @Test func noSwapAndCompressedMemoryAreFine() throws {
        let machine = try FakeMachine()
        #expect(try machine.finding("swap").severity == .ok)
        try machine.write("/proc/swaps", Self.header + "/dev/zram0 partition\t4194300\t\t1000\t\t100\n")
        #expect(try machine.finding("swap").severity == .ok)
    }

    @Test func anEagerKernelIsANoteAndAWarningOnceItSwaps() throws {
        let machine = try FakeMachine()
        try machine.write("/proc/swaps", Self.header + "/dev/sda2  partition\t2097152\t\t0\t\t-2\n")
        var finding = try machine.finding("swap")
        #expect(finding.severity == .note)
        #expect(finding.detail == "2048 MB, 0 kB of it used; swappiness 60")
        #expect(finding.remedy?.hasPrefix("sudo sysctl vm.swappiness=10") == true)

        try machine.write("/proc/swaps", Self.header + "/dev/sda2  partition\t2097152\t\t524288\t\t-2\n")
        finding = try machine.finding("swap")
        #expect(finding.severity == .warning)
        #expect(finding.detail.contains("512 MB of it used"))

        try machine.write("/proc/sys/vm/swappiness", "10\n")
        #expect(try machine.finding("swap").severity == .ok)
    }
}

@Suite struct GovernorTests {
    @Test func performanceEverywhereIsFine() throws {
        let finding = try FakeMachine().finding("cpu-governor")
        #expect(finding.severity == .ok)
        #expect(finding.detail == "performance on 2 processors (intel_pstate)")
    }

    @Test func aVirtualMachineHasNone() throws {
        let machine = try FakeMachine()
        try machine.remove("/sys/devices/system/cpu")
        #expect(try machine.finding("cpu-governor").severity == .ok)
    }

    @Test func oneThatScalesIsANoteAndOneThatStaysLowAWarning() throws {
        let machine = try FakeMachine()
        try machine.write("/sys/devices/system/cpu/cpu10/cpufreq/scaling_governor", "powersave\n")
        var finding = try machine.finding("cpu-governor")
        #expect(finding.severity == .note)
        #expect(finding.detail == "performance on 1 processor, powersave on 1 processor (intel_pstate)")
        #expect(finding.remedy?.hasPrefix("echo performance | sudo tee") == true)
        try machine.write("/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver", "acpi-cpufreq\n")
        finding = try machine.finding("cpu-governor")
        #expect(finding.severity == .warning)
    }
}

@Suite struct KernelTests {
    private static let stock =
        "Linux version 6.1.0-35-amd64 (debian-kernel@lists.debian.org) #1 SMP PREEMPT_DYNAMIC Debian 6.1.137-1\n"

    private func stockMachine(options: String) throws -> FakeMachine {
        let machine = try FakeMachine()
        try machine.remove("/sys/kernel/realtime")
        try machine.write("/proc/version", Self.stock)
        try machine.write("/proc/cmdline", "ro quiet \(options)\n")
        return machine
    }

    @Test func aRealtimeKernelIsFine() throws {
        let machine = try FakeMachine()
        #expect(try machine.finding("kernel").detail == "Linux 6.1.0-rt, real-time (PREEMPT_RT)")
    }

    @Test func aStockKernelIsToldToPreempt() throws {
        let finding = try stockMachine(options: "").finding("kernel")
        #expect(finding.severity == .note)
        #expect(finding.detail == "Linux 6.1.0-35-amd64, not told to preempt fully")
        #expect(finding.remedy?.contains("add preempt=full threadirqs to GRUB_CMDLINE") == true)
    }

    @Test func aStockKernelWithItsOptionsIsFine() throws {
        #expect(try stockMachine(options: "preempt=full").finding("kernel").severity == .ok)
        let finding = try stockMachine(options: "preempt=full threadirqs").finding("kernel")
        #expect(finding.detail.hasSuffix("preemptible, interrupts in threads"))
        #expect(try stockMachine(options: "threadirqs").finding("kernel").severity == .note)
    }
}

@Suite struct PluginPathTests {
    @Test func bundlesAreCountedInTheUsualFolders() throws {
        let machine = try FakeMachine()
        try machine.write("/usr/lib/x86_64-linux-gnu/lv2/a.lv2/manifest.ttl", "")
        try machine.write("/home/ada/.lv2/b.lv2/manifest.ttl", "")
        try machine.write("/home/ada/.lv2/empty.lv2/notes.txt", "")
        let finding = try machine.finding("lv2-path")
        #expect(finding.severity == .ok)
        #expect(
            finding.detail
                == "3 bundles: 1 in /home/ada/.lv2, 1 in /usr/lib/lv2, 1 in /usr/lib/x86_64-linux-gnu/lv2")
    }

    @Test func noPluginsAreANote() throws {
        let machine = try FakeMachine()
        try machine.remove("/usr/lib/lv2")
        let finding = try machine.finding("lv2-path")
        #expect(finding.severity == .note)
        #expect(finding.remedy?.hasPrefix("sudo apt-get install") == true)
    }

    @Test func aPathThatNamesNoFolderIsAWarning() throws {
        let machine = try FakeMachine()
        machine.environment["LV2_PATH"] = "/usr/lib/lv2"
        #expect(try machine.finding("lv2-path").severity == .ok)
        machine.environment["LV2_PATH"] = "/usr/lib/lv2:/opt/lv3"
        let finding = try machine.finding("lv2-path")
        #expect(finding.severity == .warning)
        #expect(finding.detail.contains("1 bundle") && finding.detail.hasSuffix("not there: /opt/lv3"))
    }
}
