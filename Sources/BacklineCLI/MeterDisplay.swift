import Backline
import Foundation
import Session

/// What `play` draws on a terminal: the position, a meter for each track and bus, and the keys.
///
/// It is drawn over itself, below what has been printed, and never wider or higher than the terminal.
@MainActor
final class MeterDisplay {
    /// The widths of the lines that stand on the terminal: one that became narrower has broken them.
    private var drawn: [Int] = []
    private var needles: [String: Needle] = [:]
    private var lastDrawing = Date()

    /// What a meter shows: an average that rises at once and falls slowly, a peak that is held, a clip for ever.
    private struct Needle {
        var average = -Double.infinity
        var peak = -Double.infinity
        var heldUntil = Date.distantPast
        var hasClipped = false

        /// Decibels a second by which the average falls.
        static let fall = 30.0
        /// Seconds for which a peak stands.
        static let hold = 1.0
        /// Where the scale begins, in decibels.
        static let lowest = -60.0

        mutating func move(to levels: Levels, at now: Date, after seconds: Double) {
            let next = levels.channels.map(\.average).max() ?? -.infinity
            let fallen = average - Self.fall * seconds
            average = max(next, fallen < Self.lowest ? -.infinity : fallen)
            let highest = levels.channels.map(\.peak).max() ?? -.infinity
            if highest >= peak || now > heldUntil {
                (peak, heldUntil) = (highest, now.addingTimeInterval(Self.hold))
            }
            hasClipped = hasClipped || levels.channels.contains { $0.clips > 0 }
        }

        /// A place on the scale, 0 to 1.
        static func place(_ decibels: Double) -> Double {
            max(0, min(1, 1 - decibels / lowest))
        }
    }

    /// Draws it anew.
    func draw(_ status: EngineStatus, _ levels: LevelReport, of session: Session, soloIsNext: Bool) {
        let size = TerminalSize.current
        let columns = max(20, size.columns - 1)
        let now = Date()
        let elapsed = now.timeIntervalSince(lastDrawing)
        lastDrawing = now
        for (id, channel) in levels.tracks.map({ ("track \($0.id)", $0.levels) })
            + levels.buses.map({ ("bus \($0.id)", $0.levels) })
        {
            needles[id, default: Needle()].move(to: channel, at: now, after: elapsed)
        }

        // The line of the cursor, the position and the keys; buses come before tracks where there is little room.
        let room = max(1, size.rows - 3)
        let buses = session.buses.prefix(max(1, min(session.buses.count, room / 3)))
        var tracks = session.tracks.prefix(max(0, room - buses.count))
        let isCut = tracks.count < session.tracks.count
        if isCut { tracks = tracks.dropLast() }
        let names = tracks.map(\.name) + buses.map(\.name)
        let nameWidth = min(columns / 4, 16, names.map(TextWidth.columns).max() ?? 0)

        var lines = [positionLine(status, columns: columns)]
        for (i, track) in tracks.enumerated() {
            let number = i < 10 ? "\((i + 1) % 10)" : " "
            let state = "\(track.mute ? "M" : " ")\(track.solo ? "S" : " ")"
            let label = "\(number) \(state) \(TextWidth.fit(track.name, nameWidth))"
            lines.append(meterLine(label, needles["track \(track.id)"] ?? Needle(), nameWidth, columns))
        }
        if isCut { lines.append("     … \(session.tracks.count - tracks.count) more tracks") }
        for bus in buses {
            let state = "\(bus.mute ? "M" : " ")\(bus.solo ? "S" : " ")"
            let label = "  \(state) \(TextWidth.fit(bus.name, nameWidth))"
            lines.append(meterLine(label, needles["bus \(bus.id)"] ?? Needle(), nameWidth, columns))
        }
        if size.rows > 4 { lines.append(keyLine(session, soloIsNext: soloIsNext, columns: columns)) }
        show(lines, columns: size.columns)
    }

    /// Takes it away, so that something can be printed in its place.
    func erase() {
        guard !drawn.isEmpty else { return }
        Output.write("\(wayUp(columns: TerminalSize.current.columns))\r\u{1B}[J", to: 1)
        drawn = []
    }

    private func show(_ lines: [String], columns: Int) {
        var text = drawn.isEmpty ? "" : wayUp(columns: columns)
        for line in lines { text += "\r\(line)\u{1B}[K\n" }
        drawn = lines.map { TextWidth.columns($0) }
        Output.write(text + "\u{1B}[J", to: 1)
    }

    private func wayUp(columns: Int) -> String {
        "\u{1B}[\(drawn.reduce(0) { $0 + max(1, ($1 + columns - 1) / columns) })A"
    }

    private func positionLine(_ status: EngineStatus, columns: Int) -> String {
        let state = status.isPlaying ? "▶" : "‖"
        let speed = status.rate == 1 ? "" : " × \(String(format: "%.2f", status.rate))"
        let times =
            "\(Output.time(status.position)) / \(status.duration.map { Output.time($0) } ?? "∞")\(speed)"
        let space = min(60, columns - times.count - 3)
        guard space >= 4 else { return "\(state) \(times)" }
        let part = status.duration.map { $0 > 0 ? min(1, status.position / $0) : 0 } ?? 0
        let full = Int(part * Double(space))
        let line = String(repeating: "━", count: full) + String(repeating: "─", count: space - full)
        return "\(state) \(times) \(line)"
    }

    /// A meter from −60 dB to full scale with its peak's mark and number: `−12.3 dB`, or `+0.4 CLIP` once it
    /// clipped.
    private func meterLine(
        _ label: String, _ needle: Needle, _ nameWidth: Int, _ columns: Int
    ) -> String {
        var reading = (needle.peak > 0 ? "+" : "") + Output.decibels(needle.peak)
        if needle.hasClipped {
            reading = needle.peak.isFinite ? reading.replacing(" dB", with: " CLIP") : "CLIP"
        }
        let readingWidth = 11
        let space = max(4, min(48, columns - 5 - nameWidth - 2 - readingWidth))
        let bar = Int(Needle.place(needle.average) * Double(space))
        var cells = (0..<space).map { $0 < bar ? "█" : " " }
        if needle.peak > Needle.lowest {
            cells[min(space - 1, Int(Needle.place(needle.peak) * Double(space)))] = "▏"
        }
        let gap = String(repeating: " ", count: max(0, readingWidth - reading.count))
        return "\(label) \(cells.joined()) \(gap)\(reading)"
    }

    /// The keys, in as many words as there is room for, and the volume where it is not as the session says.
    private func keyLine(_ session: Session, soloIsNext: Bool, columns: Int) -> String {
        if soloIsNext { return TextWidth.fit("solo which track? press its digit", columns) }
        let output = session.buses.first { $0.output == nil }
        let volume = output.map { $0.gain > 0 ? Output.decibels(20 * log10($0.gain)) : "off" } ?? "0.0 dB"
        let isPlain = volume == "0.0 dB" || volume == "−0.0 dB"
        let moved = session.tracks.first { $0.pitch != 0 }?.pitch
        let pitch = moved.map { " \($0 > 0 ? "+" : "−")\(Output.plain($0.magnitude))" } ?? ""
        let choices =
            [
                "space pause · ←→ 5 s · 1–9 mute · s 1–9 solo · +− volume \(volume) · [] speed · {} pitch\(pitch) · q quit",
                "space · ←→ · 1–9 mute · s solo · +− vol \(volume) · [] speed · {} pitch\(pitch) · q quit",
                "space ←→ 1–9 mute s solo +− vol \(volume) [] speed {} pitch\(pitch) q quit",
                "space · ←→ · 1–9 mute · s solo · +− vol \(volume) · q quit",
                isPlain
                    ? "space ←→ 1–9 mute s solo +− vol q quit" : "1–9 mute s solo +− vol \(volume) q quit",
            ]
        return choices.first { TextWidth.columns($0) <= columns }
            ?? TextWidth.fit("volume \(volume)", columns)
    }
}

/// How wide text is on a terminal.
enum TextWidth {
    /// The columns that `text` takes: East Asian wide letters and pictures two, marks that combine none.
    static func columns(_ text: String) -> Int {
        text.reduce(0) { $0 + columns($1) }
    }

    /// `text` cut or filled up to `width` columns, without what would steer the terminal.
    static func fit(_ text: String, _ width: Int) -> String {
        let text = Output.printable(text).replacing("\n", with: " ").replacing("\t", with: " ")
        if columns(text) <= width { return text + String(repeating: " ", count: width - columns(text)) }
        var cut = ""
        var used = 0
        for letter in text {
            guard used + columns(letter) < width else { break }
            cut.append(letter)
            used += columns(letter)
        }
        return cut + "…" + String(repeating: " ", count: max(0, width - used - 1))
    }

    private static func columns(_ letter: Character) -> Int {
        guard let scalar = letter.unicodeScalars.first else { return 0 }
        if scalar.properties.generalCategory == .nonspacingMark { return 0 }
        // The wide ranges of Unicode's EastAsianWidth.txt, rounded to blocks.
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }
}
