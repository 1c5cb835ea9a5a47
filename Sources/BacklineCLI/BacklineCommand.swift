import Glibc
import Session

/// A command of the program.
protocol Command {
    static var name: String { get }
    /// One line for the list of commands.
    static var summary: String { get }
    /// What follows `backline NAME`.
    static var usage: String { get }
    /// More for `--help`, after the options.
    static var details: String { get }
    static var options: [Arguments.Option] { get }
    static func run(_ arguments: Arguments) async throws -> ExitStatus
}

/// What the program ends with.
enum ExitStatus: Int32 {
    case done = 0
    case failed = 1
    case usage = 2
    /// Done, but a stem was missing or frames were lost.
    case degraded = 3
    /// Ended by ^C, with everything saved.
    case interrupted = 130
}

/// `backline`: finds the command, and turns errors into one line and a status.
@main
enum BacklineCommand {
    static let version = "0.2.0"

    private static var commands: [any Command.Type] {
        [PlayCommand.self, RenderCommand.self, InfoCommand.self, NewCommand.self, DoctorCommand.self]
    }

    static func main() async {
        // A reader that goes away is an error of the write, not the end of the program.
        signal(SIGPIPE, SIG_IGN)
        // So is a file that grows beyond what the system permits.
        signal(SIGXFSZ, SIG_IGN)
        let status = await run(Array(CommandLine.arguments.dropFirst()))
        if let failure = Output.failure, status == .done || status == .degraded {
            Output.error(
                "backline: cannot write to standard output: \(failure); send it where it can be written")
            exit(ExitStatus.failed.rawValue)
        }
        exit(status.rawValue)
    }

    private static func run(_ words: [String]) async -> ExitStatus {
        guard let first = words.first else {
            Output.error(help)
            return .usage
        }
        switch first {
        case "--help", "-h", "help":
            guard first == "help", let topic = words.dropFirst().first(where: { !$0.hasPrefix("-") }) else {
                Output.line(help)
                return .done
            }
            guard let command = commands.first(where: { $0.name == topic }) else { return unknown(topic) }
            Output.line(help(for: command))
            return .done
        case "--version":
            Output.line("backline \(version)")
            return .done
        default: break
        }
        guard let command = commands.first(where: { $0.name == first }) else {
            return unknown(first)
        }
        if words.contains("--help") || words.contains("-h") {
            Output.line(help(for: command))
            return .done
        }
        do {
            return try await command.run(Arguments(Array(words.dropFirst()), options: command.options))
        } catch let error as UsageError {
            Output.error("backline: \(first): \(error.message)")
            return .usage
        } catch {
            for line in "\(error)".split(separator: "\n") { Output.error("backline: \(line)") }
            return .failed
        }
    }

    private static func unknown(_ name: String) -> ExitStatus {
        let known = commands.map { $0.name } + ["--help", "--version"]
        let hint = Spelling.nearest(to: name, among: known).map { "did you mean \($0)?" }
        Output.error(
            "backline: unknown command \"\(name)\": there are \(names); \(hint ?? "see backline --help")")
        return .usage
    }

    private static var names: String { commands.map { $0.name }.joined(separator: ", ") }

    private static var help: String {
        let list = commands.map { "  \(pad($0.name, 8))\($0.summary)" }.joined(separator: "\n")
        return """
            backline plays many tracks together through JACK, started on the same sample.

            usage: backline COMMAND …
            \(list)

              backline COMMAND --help    tells all about one
              backline --version         tells the version

            exit status: 0 done, 1 failed, 2 wrong command line, 3 done but degraded (a stem missing, frames lost),
            130 after ^C with everything saved
            """
    }

    private static func help(for command: any Command.Type) -> String {
        let rows = command.options.map { option -> (String, String) in
            let name = option.name.hasPrefix("-") ? option.name : "--\(option.name)"
            return ("\(name)\(option.value.map { " \($0)" } ?? "")", option.help)
        }
        let width = (rows.map(\.0.count).max() ?? 0) + 2
        let list = rows.map { "  \(pad($0.0, width))\($0.1)" }.joined(separator: "\n")
        return """
            backline \(command.name): \(command.summary)

            usage: backline \(command.name) \(command.usage)
            \(list)\(command.details.isEmpty ? "" : "\n\n\(command.details)")
            """
    }

    private static func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
