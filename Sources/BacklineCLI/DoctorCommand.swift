import Doctor
import Foundation

/// `backline doctor`: what on this machine would spoil audio, and how to mend it.
enum DoctorCommand: Command {
    static let name = "doctor"
    static let summary = "say what on this machine would spoil audio, and how to mend it"
    static let usage = "[--json] [--root DIR]"
    static let details = "The exit status is 1 when there is a problem that keeps Backline from playing."
    static let options: [Arguments.Option] = [
        .init("json", nil, "print one JSON object"),
        .init("root", "DIR", "look at another system's files, below DIR"),
    ]

    static func run(_ arguments: Arguments) async throws -> ExitStatus {
        if let extra = arguments.rest.first { throw UsageError(message: "unexpected \"\(extra)\"") }
        let findings = MachineReport.inspect(
            root: arguments.string("root") ?? "/", environment: ProcessInfo.processInfo.environment)
        if arguments.has("json") {
            Output.json(["findings": findings], pretty: true)
        } else {
            let width = Output.isTerminal ? TerminalSize.current.columns : 100
            Output.write(MachineReport.text(findings, width: width, colored: Output.isTerminal), to: 1)
        }
        return findings.worstSeverity == .problem ? .failed : .done
    }
}
