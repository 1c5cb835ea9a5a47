import Doctor
import Foundation
import Testing

@Suite struct MachineReportTests {
    @Test func aMachineForAudioHasNothingToMend() throws {
        let findings = try FakeMachine().inspect()
        #expect(findings.filter { $0.severity != .ok || $0.remedy != nil } == [])
        #expect(findings.count == 11)
        #expect(Set(findings.map(\.id)).count == findings.count)
    }

    @Test func anEmptyRootYieldsEveryFindingAndDoesNotCrash() {
        let findings = MachineReport.inspect(
            root: "/nonexistent", environment: [:],
            limits: ResourceLimits(realtimePriority: .init(0), lockedMemory: .init(0), openFiles: .init(0)))
        #expect(findings.count == 11)
        #expect(findings.worstSeverity == .problem)
        #expect(findings.filter { $0.severity >= .warning && $0.remedy == nil } == [])
    }

    @Test func filesOfNoiseDoNotCrash() throws {
        let machine = try FakeMachine()
        let noise = String(
            decoding: (0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 13) }, as: UTF8.self)
        for path in [
            "/proc/net/unix", "/proc/self/status", "/etc/passwd", "/etc/group", "/proc/mounts", "/proc/swaps",
            "/proc/version", "/proc/asound/cards", "/etc/security/limits.d/audio.conf",
        ] {
            try machine.write(path, noise + "\n[]: \n:::\n] [ x\n \n")
        }
        #expect(machine.inspect().count == 11)
    }

    @Test func thisMachineIsInspectedToo() {
        let findings = MachineReport.inspect(environment: ProcessInfo.processInfo.environment)
        #expect(findings.count == 11)
        #expect(findings.filter { $0.detail.isEmpty } == [])
    }

    @Test func findingsSurviveJSON() throws {
        let machine = try FakeMachine()
        machine.realtimePriority = .init(0)
        let findings = machine.inspect()
        let data = try JSONEncoder().encode(findings)
        #expect(try JSONDecoder().decode([Finding].self, from: data) == findings)
        let text = String(decoding: data, as: UTF8.self)
        #expect(text.contains(#""severity":"problem""#))
    }
}

@Suite struct ServerTests {
    @Test func aRunningServerIsNamedWithItsUnderscores() throws {
        let machine = try FakeMachine()
        try machine.write("/dev/shm/jack_big_room_1000_0", "")
        try machine.write(
            "/proc/net/unix", "1: 00000002 00000000 00010000 0001 01 22147 /dev/shm/jack_big_room_1000_0\n")
        try machine.remove("/dev/shm/jack_default_1000_0")
        let finding = try machine.finding("jack-server")
        #expect(finding.severity == .ok)
        #expect(finding.detail == #"running: jackd "big_room""#)
    }

    @Test func aSocketThatNobodyListensToIsAServerThatDied() throws {
        let machine = try FakeMachine()
        try machine.write(
            "/proc/net/unix", "1: 00000003 00000000 00000000 0001 03 22147 /dev/shm/jack_default_1000_0\n")
        let finding = try machine.finding("jack-server")
        #expect(finding.severity == .warning)
        #expect(finding.remedy == "rm /dev/shm/jack_default_1000_0")
    }

    @Test func anotherUsersServerIsOutOfReach() throws {
        let machine = try FakeMachine()
        try machine.remove("/dev/shm/jack_default_1000_0")
        try machine.write("/dev/shm/jack_default_0_0", "")
        try machine.write(
            "/proc/net/unix", "1: 00000002 00000000 00010000 0001 01 22147 /dev/shm/jack_default_0_0\n")
        let finding = try machine.finding("jack-server")
        #expect(finding.severity == .note)
        #expect(finding.detail.hasSuffix(#"cannot reach jackd "default" of user 0"#))
    }

    @Test func withoutAListOfSocketsTheFileIsEnough() throws {
        let machine = try FakeMachine()
        try machine.remove("/proc/net/unix")
        #expect(try machine.finding("jack-server").severity == .ok)
    }

    @Test func noServerIsANote() throws {
        let machine = try FakeMachine()
        try machine.remove("/dev/shm/jack_default_1000_0")
        let finding = try machine.finding("jack-server")
        #expect(finding.severity == .note)
        #expect(finding.remedy?.contains("jackd -d alsa") == true)
    }

    @Test func pipeWireIsFoundByItsSocket() throws {
        let machine = try FakeMachine()
        try machine.remove("/dev/shm/jack_default_1000_0")
        try machine.write("/run/user/1000/pipewire-0", "")
        try machine.write("/proc/net/unix", "1: 2 0 00010000 0001 01 9 /run/user/1000/pipewire-0\n")
        #expect(try machine.finding("jack-server").severity == .note)
        machine.environment["XDG_RUNTIME_DIR"] = "/run/user/1000"
        let finding = try machine.finding("jack-server")
        #expect(finding.severity == .ok)
        #expect(finding.detail == "running: PipeWire (/run/user/1000/pipewire-0)")
        machine.environment["PIPEWIRE_REMOTE"] = "studio"
        #expect(try machine.finding("jack-server").severity == .note)
    }

    @Test func aDefaultServerThatDoesNotRunIsAWarning() throws {
        let machine = try FakeMachine()
        machine.environment["JACK_DEFAULT_SERVER"] = "default"
        #expect(try machine.finding("jack-server").severity == .ok)
        machine.environment["JACK_DEFAULT_SERVER"] = "studio"
        let finding = try machine.finding("jack-server")
        #expect(finding.severity == .warning)
        #expect(finding.detail.contains(#""studio""#))
        #expect(finding.remedy?.contains("jackd -n studio") == true)
    }
}

@Suite struct SoundCardTests {
    private static let running = "state: RUNNING\nowner_pid   : 4242\ntrigger_time: 1.0\n"

    @Test func aFreeCardIsNamed() throws {
        let finding = try FakeMachine().finding("sound-cards")
        #expect(finding.severity == .ok)
        #expect(finding.detail == "HDA Intel PCH (hw:PCH)")
    }

    @Test(arguments: [nil, "--- no soundcards ---\n"])
    func noCardIsANote(cards: String?) throws {
        let machine = try FakeMachine()
        try machine.remove("/proc/asound/cards")
        if let cards { try machine.write("/proc/asound/cards", cards) }
        let finding = try machine.finding("sound-cards")
        #expect(finding.severity == .note)
        #expect(finding.detail.contains("dummy"))
    }

    @Test func aCardHeldByAnotherProgramIsAWarning() throws {
        let machine = try FakeMachine()
        try machine.write("/proc/asound/card0/pcm0p/sub0/status", Self.running)
        try machine.write("/proc/4242/comm", "firefox\n")
        let finding = try machine.finding("sound-cards")
        #expect(finding.severity == .warning)
        #expect(finding.detail.hasSuffix("in use: hw:PCH by firefox (process 4242)"))
        #expect(finding.remedy?.hasSuffix("kill 4242") == true)
    }

    @Test func pulseAudioIsAskedToSuspend() throws {
        let machine = try FakeMachine()
        try machine.write("/proc/asound/card0/pcm0p/sub0/status", Self.running)
        try machine.write("/proc/4242/comm", "pulseaudio\n")
        #expect(try machine.finding("sound-cards").remedy == "pasuspender -- backline play …")
    }

    @Test func aCardHeldByAServerIsAsItShouldBe() throws {
        let machine = try FakeMachine()
        try machine.write("/proc/asound/card0/pcm0p/sub0/status", Self.running)
        try machine.write("/proc/4242/comm", "jackd\n")
        let finding = try machine.finding("sound-cards")
        #expect(finding.severity == .ok)
        #expect(finding.detail.contains("played by jackd"))
    }

    @Test func aCardThatOnlyCapturesIsANote() throws {
        let machine = try FakeMachine()
        try machine.remove("/proc/asound/card0/pcm0p")
        #expect(try machine.finding("sound-cards").severity == .note)
    }
}
