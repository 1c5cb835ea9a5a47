import Doctor
import Foundation
import Testing

/// `backline doctor`: what the module Doctor finds on a faked machine reaches its output.
struct DoctorCommandTests {
    let bench: Bench
    private let environment = [
        "JACK_DEFAULT_SERVER": "default", "HOME": "/home/ada", "USER": "ada", "LV2_PATH": "/usr/lib/lv2",
        "XDG_RUNTIME_DIR": "/run/user/1000",
    ]

    init() throws { bench = try Bench() }

    /// A machine on which nothing is to be mended; the formats are those of Linux 6.1.
    private static let healthy = [
        "/dev/shm/jack_default_1000_0": "",
        "/proc/net/unix": "Num RefCount Protocol Flags Type St Inode Path\n"
            + "000000008d815d9d: 00000003 00000000 00000000 0001 03 22710 /dev/shm/jack_default_1000_0\n"
            + "0000000043c6ab90: 00000002 00000000 00010000 0001 01 22147 /dev/shm/jack_default_1000_0\n",
        "/proc/self/status": "Uid:\t1000\t1000\t1000\t1000\nGid:\t1000\t1000\nGroups:\t29 1000\n"
            + "CapEff:\t0000000000804000\n",
        "/etc/passwd": "ada:x:1000:1000::/home/ada:/bin/bash\n", "/etc/group": "audio:x:29:ada\n",
        "/proc/sys/kernel/sched_rt_runtime_us": "950000\n",
        "/proc/mounts": "tmpfs /dev/shm tmpfs rw,nosuid,nodev,size=8000000k 0 0\n",
        "/proc/swaps": "Filename\tType\tSize\tUsed\tPriority\n", "/proc/sys/vm/swappiness": "60\n",
        "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
        "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver": "intel_pstate\n",
        "/proc/version": "Linux version 6.1.0-rt #1 SMP PREEMPT_RT Debian 6.1\n",
        "/sys/kernel/realtime": "1\n",
        "/proc/cmdline": "ro quiet\n",
        "/proc/asound/cards":
            " 0 [PCH            ]: HDA-Intel - HDA Intel PCH\n      HDA Intel PCH at 0xf7210000\n",
        "/proc/asound/card0/pcm0p/sub0/status": "closed\n", "/usr/lib/lv2/eg-amp.lv2/manifest.ttl": "",
    ]

    /// What is changed (nil: removed) to break one thing, and which finding tells that.
    static let ailments: [(finding: String, changes: [String: String?])] = [
        ("server", ["/dev/shm/jack_default_1000_0": nil, "/proc/net/unix": "Num\n"]),
        ("sound-cards", ["/proc/asound/cards": "--- no soundcards ---\n"]),
        (
            "sound-cards",
            [
                "/proc/asound/card0/pcm0p/sub0/status": "state: RUNNING\nowner_pid   : 77\n",
                "/proc/77/comm": "mplayer\n",
            ]
        ),
        ("realtime-priority", ["/proc/sys/kernel/sched_rt_runtime_us": "0\n"]),
        ("audio-group", ["/etc/group": "audio:x:30:\n"]),
        ("shared-memory", ["/proc/mounts": "tmpfs /dev/shm tmpfs rw,size=65536k 0 0\n"]),
        (
            "swap",
            ["/proc/swaps": "Filename\tType\tSize\tUsed\tPriority\n/dev/sda2 partition 2097148 1048576 -2\n"]
        ),
        (
            "governor",
            [
                "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n",
                "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver": "acpi-cpufreq\n",
            ]
        ),
        ("kernel", ["/proc/version": "Linux version 6.1.0 #1 SMP Debian\n", "/sys/kernel/realtime": nil]),
        ("lv2-path", ["/usr/lib/lv2/eg-amp.lv2/manifest.ttl": nil]),
    ]

    private func makeMachine(_ changes: [String: String?]) throws -> String {
        let root = bench.path("root-\(UUID().uuidString)")
        for (path, text) in Self.healthy.merging(changes.compactMapValues { $0 }, uniquingKeysWith: { $1 }) {
            if case .some(nil) = changes[path] { continue }
            let url = URL(filePath: root + path)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: url)
        }
        return root
    }

    private func run(_ words: [String], limits: String = "") async throws -> Program.Ending {
        try await Program.start(
            ["bash", "-c", "\(limits) exec \"$0\" doctor \"$@\"", Program.path] + words, in: bench,
            environment: environment
        ).ending()
    }

    private func findings(_ ending: Program.Ending) throws -> [Finding] {
        try JSONDecoder().decode([String: [Finding]].self, from: Data(ending.output.utf8))["findings"] ?? []
    }

    /// Every finding's title, detail and remedy, whatever line breaks come between, and its mark.
    private func expectTold(_ findings: [Finding], in text: String) {
        func words(_ text: String) -> String {
            text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        }
        for finding in findings {
            let mark = [Severity.ok: "✓", .note: "·", .warning: "!", .problem: "✗"][finding.severity] ?? "?"
            #expect(
                words(text).contains(words("\(mark) \(finding.title) \(finding.detail)")),
                "\(finding)\n\(text)")
            if let remedy = finding.remedy {
                #expect(words(text).contains(words("→ \(remedy)")), "\(finding)")
            }
        }
        #expect(text.contains("\(findings.count) findings: "))
        #expect(!text.contains("\u{1B}"))
    }

    @Test func `a healthy machine has nothing to mend`() async throws {
        let root = try makeMachine([:])
        let json = try await run(["--json", "--root", root], limits: "ulimit -n 4096;")
        let told = try findings(json)
        #expect(told.count == 11)
        #expect(told.allSatisfy { $0.severity == .ok && $0.remedy == nil }, "\(told)")
        #expect(json.status == 0 && json.errors == "")
        let text = try await run(["--root", root], limits: "ulimit -n 4096;")
        #expect(text.status == 0)
        expectTold(told, in: text.output)
    }

    @Test(arguments: ailments.indices) func `what is wrong is told with its remedy`(index: Int) async throws {
        let (id, changes) = Self.ailments[index]
        let root = try makeMachine(changes)
        let ending = try await run(["--json", "--root", root], limits: "ulimit -n 4096;")
        let told = try findings(ending)
        let bad = told.filter { $0.severity != .ok }
        #expect(bad.contains { $0.id.contains(id) || id.contains($0.id) }, "\(id): \(bad)")
        #expect(ending.status == (bad.contains { $0.severity == .problem } ? 1 : 0))
        let text = try await run(["--root", root], limits: "ulimit -n 4096;")
        #expect(text.status == ending.status)
        expectTold(told, in: text.output)
    }

    @Test(arguments: [
        ("realtime-priority", "ulimit -r 0;"), ("memory-lock", "ulimit -l 64;"),
        ("open-files", "ulimit -Sn 128;"),
    ])
    func `a limit of the process is told with its remedy`(id: String, limits: String) async throws {
        // A user without capabilities.
        let status = "Uid:\t1000\t1000\nGid:\t1000\nGroups:\t29\nCapEff:\t0000000000000000\n"
        let root = try makeMachine(["/proc/self/status": status])
        let ending = try await run(["--json", "--root", root], limits: limits)
        let told = try findings(ending)
        let finding = try #require(told.first { $0.id == id })
        #expect(finding.severity >= .warning && finding.remedy?.isEmpty == false, "\(finding)")
        expectTold(told, in: try await run(["--root", root], limits: limits).output)
    }

    @Test func `this machine has the same findings`() async throws {
        let ending = try await Program.run("doctor", "--json", in: bench)
        #expect([0, 1].contains(ending.status))
        #expect(try findings(ending).map(\.id) == MachineReport.inspect(environment: [:]).map(\.id))
    }
}
