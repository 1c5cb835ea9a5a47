extension MachineReport {
    /// Programs that share a card out rather than keep it from others.
    private static let sharingPrograms: Set<String> = ["jackd", "jackdbus", "pipewire", "backline"]

    /// The sound cards, and who holds them.
    static func soundCards(on machine: Machine) -> Finding {
        let finding = Subject(id: "sound-cards", title: "Sound cards")

        let cards = machine.cards()
        guard !cards.isEmpty else {
            return finding(.note, "none; `backline play` uses JACK's dummy driver, with meters but no sound")
        }
        let list = cards.map { "\($0.description) (hw:\($0.name))" }.joined(separator: ", ")
        let holders = cards.flatMap { card in
            machine.holders(ofCard: card.number).map { (card: card.name, holder: $0) }
        }
        let busy = holders.filter { !sharingPrograms.contains($0.holder.program) }
        if !busy.isEmpty {
            let held = busy.map { "hw:\($0.card) by \($0.holder.program) (process \($0.holder.process))" }
            let remedy =
                busy.contains { $0.holder.program == "pulseaudio" }
                ? "pasuspender -- backline play …"
                : "end it, or let it play through JACK: kill \(busy.map(\.holder.process).joined(separator: " "))"
            return finding(.warning, "\(list); in use: \(held.joined(separator: ", "))", remedy)
        }
        guard cards.contains(where: { machine.playbackStreams(ofCard: $0.number).count > 0 }) else {
            return finding(.note, "\(list); none of them plays back", nil)
        }
        let shared = holders.map { "; hw:\($0.card) is played by \($0.holder.program)" }
        return finding(.ok, list + shared.joined())
    }
}

extension Machine {
    fileprivate struct Card {
        let number: String
        let name: String
        let description: String
    }

    /// The lines ` 0 [PCH            ]: HDA-Intel - HDA Intel PCH` of /proc/asound/cards.
    fileprivate func cards() -> [Card] {
        lines("/proc/asound/cards").compactMap { line in
            guard let open = line.firstIndex(of: "["), let close = line.firstIndex(of: "]"), open < close
            else {
                return nil
            }
            let number = line[..<open].filter { !$0.isWhitespace }
            guard Int(number) != nil else { return nil }
            let name = line[line.index(after: open)..<close].filter { !$0.isWhitespace }
            let words = line[close...].split(separator: " - ", maxSplits: 1)
            return Card(
                number: number, name: name,
                description: words.count == 2 ? trimmed(words[1]) : name)
        }
    }

    /// The folders of a card's playback streams.
    fileprivate func playbackStreams(ofCard number: String) -> [String] {
        let folder = "/proc/asound/card\(number)"
        return names(in: folder).filter { $0.hasPrefix("pcm") && $0.hasSuffix("p") }.map { "\(folder)/\($0)" }
    }

    /// The processes that have a playback stream of the card open.
    fileprivate func holders(ofCard number: String) -> [(program: String, process: String)] {
        var holders: [(program: String, process: String)] = []
        for stream in playbackStreams(ofCard: number) {
            for sub in names(in: stream) where sub.hasPrefix("sub") {
                let owner = lines("\(stream)/\(sub)/status").first { $0.hasPrefix("owner_pid") }
                guard let process = owner?.split(separator: ":").last.map(trimmed),
                    !holders.contains(where: { $0.process == process })
                else { continue }
                holders.append((text("/proc/\(process)/comm") ?? "a process that has ended", process))
            }
        }
        return holders
    }
}
