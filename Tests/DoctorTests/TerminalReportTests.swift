import Doctor
import Testing

@Suite struct TerminalReportTests {
    private let findings = [
        Finding(id: "a", title: "Kernel", severity: .ok, detail: "fine"),
        Finding(id: "b", title: "Swap", severity: .warning, detail: "much", remedy: "sudo less"),
        Finding(id: "c", title: "Real-time priority", severity: .problem, detail: "none", remedy: "log in"),
        Finding(id: "d", title: "Open files", severity: .note, detail: "few"),
    ]

    @Test func columnsAlignAndTheLastLineCounts() {
        #expect(
            MachineReport.text(findings) == """
                ✓ Kernel              fine
                ! Swap                much
                                      → sudo less
                ✗ Real-time priority  none
                                      → log in
                · Open files          few
                4 findings: 1 problem, 1 warning, 1 note, 1 ok

                """)
    }

    @Test func longDetailsWrapUnderTheirColumn() {
        let detail = Array(repeating: "word", count: 30).joined(separator: " ")
        let finding = Finding(id: "a", title: "Kernel", severity: .note, detail: detail, remedy: detail)
        let lines = MachineReport.text([finding], width: 60).split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= 60 })
        // Three of detail, four of remedy, and the count.
        #expect(lines.count == 8)
        #expect(lines[1].hasPrefix("          word"))
        #expect(lines[3].hasPrefix("          → word"))
        #expect(lines[4].hasPrefix("            word"))
    }

    @Test func coloursAreForTerminalsOnly() {
        #expect(!MachineReport.text(findings).contains("\u{1B}"))
        #expect(MachineReport.text(findings, colored: true).contains("\u{1B}[31m✗\u{1B}[0m Real-time"))
    }

    @Test func theWorstFindingGivesTheSeverity() {
        #expect(findings.worstSeverity == .problem)
        #expect([Finding]().worstSeverity == .ok)
    }
}
