extension MachineReport {
    /// **Any thread:** the findings as a terminal or a pipe shows them, with a newline after each line.
    ///
    /// A finding is a mark, its title, and what was seen, wrapped to `width` columns; its remedy stands below, and
    /// the last line counts.
    /// - Parameters:
    ///   - findings: as `inspect` returns them.
    ///   - width: columns of the terminal; less than 50 is taken as 50. A word that is wider is not broken.
    ///   - colored: whether marks carry the terminal's colours.
    public static func text(_ findings: [Finding], width: Int = 100, colored: Bool = false) -> String {
        let titleWidth = findings.map(\.title.count).max() ?? 0
        let indent = titleWidth + 4
        var text = ""
        for finding in findings {
            let title = finding.title + String(repeating: " ", count: titleWidth - finding.title.count)
            var head = "\(finding.severity.mark(colored: colored)) \(title)  "
            for line in wrapped(finding.detail, to: max(width, 50) - indent) {
                text += head + line + "\n"
                head = String(repeating: " ", count: indent)
            }
            guard let remedy = finding.remedy else { continue }
            head = String(repeating: " ", count: indent) + "→ "
            for line in wrapped(remedy, to: max(width, 50) - indent - 2) {
                text += head + line + "\n"
                head = String(repeating: " ", count: indent + 2)
            }
        }
        return text + summary(findings) + "\n"
    }

    /// "11 findings: 1 problem, 2 warnings, 8 ok".
    static func summary(_ findings: [Finding]) -> String {
        let counts = Severity.allCases.reversed().compactMap { severity -> String? in
            let count = findings.count { $0.severity == severity }
            guard count > 0 else { return nil }
            return severity == .ok ? "\(count) ok" : counted(count, severity.rawValue)
        }
        return
            ([counted(findings.count, "finding")] + (counts.isEmpty ? [] : [counts.joined(separator: ", ")]))
            .joined(separator: ": ")
    }

    private static func wrapped(_ text: String, to width: Int) -> [String] {
        var lines = [""]
        for word in text.split(separator: " ") {
            let line = lines[lines.count - 1]
            if line.isEmpty {
                lines[lines.count - 1] = String(word)
            } else if line.count + 1 + word.count <= width {
                lines[lines.count - 1] = "\(line) \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}

extension Severity {
    /// One column wide; the colours are those of ECMA-48, green, cyan, yellow and red.
    fileprivate func mark(colored: Bool) -> String {
        let (mark, color) =
            switch self {
            case .ok: ("✓", 32)
            case .note: ("·", 36)
            case .warning: ("!", 33)
            case .problem: ("✗", 31)
            }
        return colored ? "\u{1B}[\(color)m\(mark)\u{1B}[0m" : mark
    }
}
