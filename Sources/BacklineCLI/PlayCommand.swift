import Backline
import Foundation
import JackClient
import Session

/// `backline play`: plays a session, or files, through JACK.
enum PlayCommand: Command {
    static let name = "play"
    static let summary = "play a session, or files together, through JACK"
    static let usage = "SESSION|FILE… [options]"
    static let details = """
        keys: space pauses, ← and → go 5 s back and on, a digit mutes a track, s and a digit soloes it, + and − change
        the volume, [ and ] the speed by 0.05, { and } the pitch by a semitone, q quits.

        It plays through the JACK server that runs; else through PipeWire where that runs; else it starts a server on a
        sound card, or, where there is none, on the dummy driver, and ends it again. It connects only what the session
        says, or --connect.
        """
    static let options: [Arguments.Option] =
        [
            .init("server", "NAME", "the JACK server to play through"),
            .init("client", "NAME", "the name in the JACK graph (backline)"),
            .init("from", "S", "begin at this place of the timeline, in seconds or as 1:30"),
            .init("to", "S", "stop at this place"),
            .init("seconds", "N", "play so much"),
            .init("loop", "A:B", "repeat this range, in seconds, without a gap"),
        ] + RateOptions.all + [
            .init("at-end", "quit|stop|rewind", "what to do at the end (quit)"),
            .init("connect", "BUS.CHANNEL=PORT", "connect an output; repeats; e.g. main.1=system:playback_1"),
            .init("strict", nil, "a missing stem or port is an error"),
            .init("silent", nil, "play through a server of its own that makes no sound"),
            .init("json", nil, "print one JSON object at the end"),
            .init("events", nil, "print one JSON object a line, as things happen"),
        ]

    /// What to do at the end.
    enum AtEnd: String, CaseIterable {
        case quit
        case stop
        case rewind
    }

    static func run(_ arguments: Arguments) async throws -> ExitStatus {
        let options = try engineOptions(arguments)
        let atEnd = try arguments.choice("at-end", AtEnd.self) ?? .quit
        guard !(arguments.has("json") && arguments.has("events")) else {
            throw UsageError(message: "--json and --events exclude each other")
        }
        var document = try SessionDocument.named(arguments.rest)
        try RateOptions.apply(arguments, to: &document)
        let (server, ownServer, notice) = try chooseServer(arguments, document)
        defer { ownServer?.stop() }
        var engineOptions = options
        engineOptions.server = server
        let engine = try await Engine(document, options: engineOptions)
        let style: PlayReporter.Style =
            arguments.has("json")
            ? .json
            : arguments.has("events")
                ? .events : Output.isTerminal && Output.isForeground(1) ? .terminal : .lines
        let player = await Player(engine: engine, document: document, style: style, atEnd: atEnd)
        for text in [notice].compactMap({ $0 }) + engine.notices { await player.reporter.notice(text) }
        for problem in engine.problems { await player.reporter.problem(problem) }
        return try await player.run()
    }

    private static func engineOptions(_ arguments: Arguments) throws -> Engine.Options {
        var options = Engine.Options()
        options.clientName = arguments.string("client") ?? "backline"
        options.from = try arguments.seconds("from") ?? 0
        options.to = try arguments.seconds("to")
        options.seconds = try arguments.length("seconds")
        options.isStrict = arguments.has("strict")
        if let to = options.to, to <= options.from {
            throw UsageError(message: "--to \(to) is not behind --from \(options.from)")
        }
        if let text = arguments.string("loop") {
            options.loop = try loopRange(text)
            if arguments.string("from") == nil, let loop = options.loop { options.from = loop.lowerBound }
        }
        for text in arguments.strings("connect") {
            // JACK names contain colons and equals signs; outputs of buses do not.
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else {
                throw UsageError(
                    message: "--connect \(text): expected BUS.CHANNEL=PORT, as main.1=system:playback_1")
            }
            options.connections.append((output: parts[0], port: parts[1]))
        }
        return options
    }

    /// `A:B` in seconds; times with minutes are divided by the middle colon.
    private static func loopRange(_ text: String) throws -> Range<Double> {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        let half = parts.count / 2
        guard parts.count % 2 == 0, let a = Arguments.seconds(parts[..<half].joined(separator: ":")),
            let b = Arguments.seconds(parts[half...].joined(separator: ":")), b - a >= 0.01
        else {
            throw UsageError(
                message:
                    "--loop \(text): expected two times in seconds, the second 0.01 s or more behind the first, as 12.5:20"
            )
        }
        return a..<b
    }

    /// The server to play through, one of our own if none runs, and what to say of it.
    private static func chooseServer(
        _ arguments: Arguments, _ document: SessionDocument
    ) throws -> (name: String?, own: JackServer?, notice: String?) {
        let surroundings = ServerChoice.Surroundings(
            environment: ProcessInfo.processInfo.environment, arguments: CommandLine.arguments)
        let silent = arguments.has("silent")
        let rate = document.session.sampleRate ?? document.firstFileRate
        switch try ServerChoice.choose(server: arguments.string("server"), silent: silent, in: surroundings) {
        case .running(let name): return (name, nil, nil)
        case .pipeWire(let words):
            try replaceProcess(words)
        case .soundCard(let card):
            let server = try JackServer(driver: .card(card), sampleRate: rate)
            return (
                server.name, server, "no JACK server runs: playing through \(card.name) (\(card.alsaName))"
            )
        case .dummy:
            let server = try JackServer(driver: .dummy(outputs: 2), sampleRate: rate)
            let reason = silent ? "" : "no JACK server runs and there is no sound card: "
            return (server.name, server, "\(reason)playing without sound, through JACK's dummy driver")
        }
    }

    /// Runs this program again with PipeWire's libjack.
    private static func replaceProcess(_ words: [String]) throws -> Never {
        let list = unsafe words.map { unsafe strdup($0) } + [nil]
        unsafe execv(words[0], list)
        throw BacklineError.jack("cannot run \(words[0]): \(unsafe String(cString: strerror(errno)))")
    }
}
