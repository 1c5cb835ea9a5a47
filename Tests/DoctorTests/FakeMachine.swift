import Doctor
import Foundation

/// A folder that stands for the root of a machine, removed with this object.
///
/// Made, it is a machine for audio: a server runs, a card is there, and nothing is to be mended.
final class FakeMachine {
    let root: String
    var environment = ["HOME": "/home/ada", "USER": "ada"]
    var realtimePriority = ResourceLimits.Limit(95)
    var lockedMemory = ResourceLimits.Limit(nil)
    var openFiles = ResourceLimits.Limit(soft: 4096, hard: 1_048_576)

    init() throws {
        root =
            FileManager.default.temporaryDirectory.appendingPathComponent("doctor-\(UUID().uuidString)").path
        for (path, text) in Self.files {
            try write(path, text)
        }
    }

    deinit {
        try? FileManager.default.removeItem(atPath: root)
    }

    func write(_ path: String, _ text: String) throws {
        let url = URL(fileURLWithPath: root + path)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    func remove(_ path: String) throws {
        try FileManager.default.removeItem(atPath: root + path)
    }

    func inspect() -> [Finding] {
        MachineReport.inspect(
            root: root, environment: environment,
            limits: ResourceLimits(
                realtimePriority: realtimePriority, lockedMemory: lockedMemory, openFiles: openFiles))
    }

    /// The one finding of that id.
    func finding(_ id: String) throws -> Finding {
        let found = inspect().filter { $0.id == id }
        guard found.count == 1 else { throw NoSuchFinding(id: id, count: found.count) }
        return found[0]
    }

    struct NoSuchFinding: Error {
        let id: String
        let count: Int
    }

    /// A user without capabilities and groups but her own and `audio`; the formats are those of Linux 6.1.
    private static let files = [
        "/dev/shm/jack_default_1000_0": "",
        "/dev/shm/jack-shm-registry": "",
        "/proc/net/unix": """
        Num       RefCount Protocol Flags    Type St Inode Path
        000000008d815d9d: 00000003 00000000 00000000 0001 03 22710 /dev/shm/jack_default_1000_0
        0000000043c6ab90: 00000002 00000000 00010000 0001 01 22147 /dev/shm/jack_default_1000_0
        """,
        "/proc/self/status": "Name:\tbackline\nUid:\t1000\t1000\t1000\t1000\nGid:\t1000\t1000\t1000\t1000\n"
            + "Groups:\t29 1000 \nCapEff:\t0000000000000000\n",
        "/etc/passwd": "root:x:0:0:root:/root:/bin/bash\nada:x:1000:1000::/home/ada:/bin/bash\n",
        "/etc/group": "root:x:0:\naudio:x:29:ada\nada:x:1000:\n",
        "/etc/security/limits.d/audio.conf":
            "# JACK\n@audio   -  rtprio     95\n@audio   -  memlock    unlimited\n",
        "/proc/sys/kernel/sched_rt_runtime_us": "950000\n",
        "/proc/mounts": "tmpfs /dev/shm tmpfs rw,nosuid,nodev,size=8000000k 0 0\n",
        "/proc/swaps": "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n",
        "/proc/sys/vm/swappiness": "60\n",
        "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
        "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver": "intel_pstate\n",
        "/sys/devices/system/cpu/cpu10/cpufreq/scaling_governor": "performance\n",
        "/sys/devices/system/cpu/cpufreq/policy0/scaling_governor": "powersave\n",
        "/proc/version":
            "Linux version 6.1.0-rt (debian-kernel@lists.debian.org) #1 SMP PREEMPT_RT Debian 6.1\n",
        "/proc/cmdline": "BOOT_IMAGE=/vmlinuz root=/dev/sda1 ro quiet\n",
        "/sys/kernel/realtime": "1\n",
        "/proc/asound/cards": " 0 [PCH            ]: HDA-Intel - HDA Intel PCH\n"
            + "                      HDA Intel PCH at 0xf7210000 irq 31\n",
        "/proc/asound/card0/pcm0p/sub0/status": "closed\n",
        "/proc/asound/card0/pcm0c/sub0/status": "closed\n",
        "/usr/lib/lv2/eg-amp.lv2/manifest.ttl": "",
    ]
}
