extension MachineReport {
    /// Where LV2 plug-ins are looked for, and how many bundles are there.
    static func pluginPath(on machine: Machine) -> Finding {
        let finding = Subject(id: "lv2-path", title: "LV2 path")

        let set = machine.environment["LV2_PATH"]
        let folders = set?.split(separator: ":").map(String.init) ?? machine.usualPluginFolders()
        let missing = folders.filter { !machine.exists($0) }
        let counts = folders.map { (folder: $0, bundles: machine.bundleCount(in: $0)) }
        let total = counts.map(\.bundles).reduce(0, +)
        let list = counts.filter { $0.bundles > 0 }.map { "\($0.bundles) in \($0.folder)" }
        let seen = counted(total, "bundle") + (list.isEmpty ? "" : ": " + list.joined(separator: ", "))

        if set != nil, !missing.isEmpty {
            return finding(
                .warning,
                "\(seen); LV2_PATH names folders that are not there: \(missing.joined(separator: ", "))",
                "unset LV2_PATH, or correct it")
        }
        if total == 0 {
            return finding(
                .note, set == nil ? "no plug-ins are installed" : "\(seen) in LV2_PATH",
                set == nil ? "sudo apt-get install x42-plugins calf-plugins" : "unset LV2_PATH, or correct it"
            )
        }
        return finding(.ok, seen)
    }
}

extension Machine {
    /// The folders that lilv looks in without LV2_PATH, Debian's for each architecture among them.
    fileprivate func usualPluginFolders() -> [String] {
        let home = environment["HOME"].map { ["\($0)/.lv2"] } ?? []
        let libraries = ["/usr/local/lib", "/usr/lib"].flatMap { library in
            [library] + names(in: library).filter { $0.contains("-linux-gnu") }.map { "\(library)/\($0)" }
        }
        return home + libraries.map { "\($0)/lv2" }
    }

    /// How many bundles a folder holds: a bundle is a folder with a manifest.
    fileprivate func bundleCount(in folder: String) -> Int {
        names(in: folder).count { exists("\(folder)/\($0)/manifest.ttl") }
    }
}
