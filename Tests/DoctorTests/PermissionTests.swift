import Doctor
import Testing

@Suite struct RealtimePriorityTests {
    @Test func aHighLimitIsEnough() throws {
        let machine = try FakeMachine()
        #expect(try machine.finding("realtime-priority").detail == "up to 95")
        machine.realtimePriority = .init(nil)
        #expect(try machine.finding("realtime-priority").severity == .ok)
    }

    @Test func noneIsAProblemAndALowOneAWarning() throws {
        let machine = try FakeMachine()
        machine.realtimePriority = .init(0)
        #expect(try machine.finding("realtime-priority").severity == .problem)
        machine.realtimePriority = .init(19)
        #expect(try machine.finding("realtime-priority").severity == .warning)
        machine.realtimePriority = .init(20)
        #expect(try machine.finding("realtime-priority").severity == .ok)
    }

    @Test func aCapabilityStandsAboveTheLimit() throws {
        let machine = try FakeMachine()
        machine.realtimePriority = .init(0)
        machine.lockedMemory = .init(0)
        try machine.write("/proc/self/status", "Uid:\t0\t0\t0\t0\nCapEff:\t0000000000800000\n")
        #expect(try machine.finding("realtime-priority").severity == .ok)
        #expect(try machine.finding("memory-lock").severity == .warning)
        try machine.write("/proc/self/status", "Uid:\t0\t0\t0\t0\nCapEff:\t0000000000004000\n")
        #expect(try machine.finding("realtime-priority").severity == .problem)
        #expect(try machine.finding("memory-lock").severity == .ok)
    }

    @Test func theRemedyIsWhatIsMissing() throws {
        let machine = try FakeMachine()
        machine.realtimePriority = .init(0)
        // The rule is there and the user is a member: only this session is older.
        #expect(try machine.finding("realtime-priority").remedy == "log out and in")

        try machine.write("/proc/self/status", "Uid:\t1000\t1000\t1000\t1000\nGroups:\t1000\n")
        try machine.write("/etc/group", "audio:x:29:\n")
        #expect(
            try machine.finding("realtime-priority").remedy
                == "sudo usermod -aG audio ada; then log out and in")

        try machine.remove("/etc/security/limits.d/audio.conf")
        var finding = try machine.finding("realtime-priority")
        #expect(finding.detail == "not permitted; no rule grants it")
        #expect(finding.remedy?.contains("@audio - rtprio 95; sudo usermod -aG audio ada") == true)

        try machine.write("/etc/security/limits.d/audio.conf.disabled", "@audio - rtprio 95\n")
        finding = try machine.finding("realtime-priority")
        #expect(finding.remedy?.hasPrefix("sudo dpkg-reconfigure -p high jackd2") == true)
    }

    @Test func whatTheUserMayRaiseHerselfIsRaisedByUlimit() throws {
        let machine = try FakeMachine()
        machine.realtimePriority = .init(soft: 0, hard: 95)
        #expect(try machine.finding("realtime-priority").remedy == "ulimit -r 95")
        machine.lockedMemory = .init(soft: 65536, hard: nil)
        #expect(try machine.finding("memory-lock").remedy == "ulimit -l unlimited")
    }

    @Test func aKernelWithoutTimeForRealtimeThreadsIsAProblem() throws {
        let machine = try FakeMachine()
        try machine.write("/proc/sys/kernel/sched_rt_runtime_us", "0\n")
        let finding = try machine.finding("realtime-priority")
        #expect(finding.severity == .problem)
        #expect(finding.remedy?.hasPrefix("sudo sysctl") == true)
        try machine.write("/proc/sys/kernel/sched_rt_runtime_us", "-1\n")
        #expect(try machine.finding("realtime-priority").severity == .ok)
    }
}

@Suite struct AudioGroupTests {
    @Test func aMemberAndRootLackNothing() throws {
        let machine = try FakeMachine()
        #expect(try machine.finding("audio-group").detail == "ada is a member")
        try machine.write("/proc/self/status", "Uid:\t0\t0\t0\t0\nGroups:\t\n")
        #expect(try machine.finding("audio-group").severity == .ok)
    }

    @Test func outsideTheGroupWithoutPriorityIsAWarning() throws {
        let machine = try FakeMachine()
        try machine.write("/proc/self/status", "Uid:\t1000\t1000\t1000\t1000\nGid:\t1000\nGroups:\t1000\n")
        try machine.write("/etc/group", "audio:x:29:adam\n")
        #expect(try machine.finding("audio-group").severity == .note)
        machine.realtimePriority = .init(0)
        let finding = try machine.finding("audio-group")
        #expect(finding.severity == .warning)
        #expect(finding.remedy == "sudo usermod -aG audio ada, then log out and in")
    }

    @Test func aNewMemberHasToLogInAgain() throws {
        let machine = try FakeMachine()
        machine.realtimePriority = .init(0)
        try machine.write("/proc/self/status", "Uid:\t1000\t1000\t1000\t1000\nGid:\t1000\nGroups:\t1000\n")
        let finding = try machine.finding("audio-group")
        #expect(finding.severity == .warning)
        #expect(finding.remedy == "log out and in")
    }

    @Test func aSystemWithoutTheGroupIsToldToMakeIt() throws {
        let machine = try FakeMachine()
        try machine.write("/etc/group", "root:x:0:\n")
        #expect(try machine.finding("audio-group").remedy?.hasPrefix("sudo groupadd") == true)
    }
}

@Suite struct MemoryLockTests {
    @Test func enoughIsEnough() throws {
        let machine = try FakeMachine()
        #expect(try machine.finding("memory-lock").detail == "any (no limit)")
        machine.lockedMemory = .init(512 << 20)
        #expect(try machine.finding("memory-lock").detail == "up to 512 MB")
    }

    @Test func tooLittleIsAWarningWithTheRule() throws {
        let machine = try FakeMachine()
        machine.lockedMemory = .init(64 << 10)
        try machine.write("/etc/security/limits.d/audio.conf", "@audio - rtprio 95\n")
        let finding = try machine.finding("memory-lock")
        #expect(finding.severity == .warning)
        #expect(finding.detail.hasPrefix("only 64 kB"))
        #expect(finding.remedy?.contains("@audio - memlock unlimited") == true)
    }
}

@Suite struct OpenFilesTests {
    @Test func manyAreEnough() throws {
        let machine = try FakeMachine()
        #expect(try machine.finding("open-files").detail == "up to 4096")
        machine.openFiles = .init(nil)
        #expect(try machine.finding("open-files").severity == .ok)
    }

    @Test func fewAreANoteAndVeryFewAWarning() throws {
        let machine = try FakeMachine()
        machine.openFiles = .init(soft: 1024, hard: 1_048_576)
        var finding = try machine.finding("open-files")
        #expect(finding.severity == .note)
        #expect(finding.remedy?.hasSuffix("ulimit -n 2048") == true)
        machine.openFiles = .init(64)
        finding = try machine.finding("open-files")
        #expect(finding.severity == .warning)
        #expect(finding.remedy?.contains("@audio - nofile") == true)
    }
}
