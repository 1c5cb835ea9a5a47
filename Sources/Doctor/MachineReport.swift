/// What on this machine would spoil audio, and how to mend it: the whole of `backline doctor`.
public enum MachineReport {
    /// **Control:** looks at the machine and returns its findings, always the same ones in the same order.
    ///
    /// - Parameters:
    ///   - root: where the machine's files are; a test gives a folder with a faked `proc`, `sys`, `etc` and `dev`.
    ///   - environment: the variables of this process, of which `XDG_RUNTIME_DIR`, `PIPEWIRE_RUNTIME_DIR`,
    ///     `PIPEWIRE_REMOTE`, `JACK_DEFAULT_SERVER`, `LV2_PATH`, `HOME` and `USER` are read.
    ///   - limits: the resource limits of this process.
    public static func inspect(
        root: String = "/", environment: [String: String], limits: ResourceLimits = .current()
    ) -> [Finding] {
        let machine = Machine(root: root, environment: environment)
        return [
            servers(on: machine),
            soundCards(on: machine),
            realtimePriority(on: machine, limits: limits),
            audioGroup(on: machine, limits: limits),
            memoryLock(on: machine, limits: limits),
            openFiles(limits: limits),
            sharedMemory(on: machine),
            swap(on: machine),
            governor(on: machine),
            kernel(on: machine),
            pluginPath(on: machine),
        ]
    }
}
