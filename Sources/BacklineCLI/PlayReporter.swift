import Backline
import Foundation
import Session

/// What `play` shows: meters on a terminal, plain lines on a pipe, JSON for programs.
@MainActor
final class PlayReporter {
    /// For whom it speaks.
    enum Style {
        case terminal
        case lines
        case json
        case events
    }

    let style: Style
    private let document: SessionDocument
    private var session: Session
    private var soloIsNext = false
    private var drawnLines = 0
    private var held: [String: (peak: Double, until: Date)] = [:]

    init(style: Style, document: SessionDocument) {
        self.style = style
        self.document = document
        session = document.session
    }

    // MARK: In passing

    /// Something a person should know.
    func notice(_ text: String) {
        switch style {
        case .events: Output.json(EventJSON(event: "notice", text: text))
        case .json: Output.error("backline: \(text)")
        case .terminal, .lines:
            eraseDrawing()
            Output.error("backline: \(text)")
        }
    }

    /// Before the first sound.
    func begin(_ status: EngineStatus) {
        guard style == .lines || style == .terminal else { return }
        let length = status.duration.map { Output.time($0) } ?? "for ever"
        let count = session.tracks.count
        Output.line(
            "\(session.name.isEmpty ? "playing" : session.name): \(count) track\(count == 1 ? "" : "s"), \(length)"
        )
    }

    /// Something happened.
    func tell(_ event: EngineEvent) {
        switch style {
        case .events: Output.json(EventJSON(event))
        case .json: if case .stemFailed(let problem) = event { Output.error("backline: \(problem)") }
        case .terminal, .lines:
            guard let text = plainText(event) else { return }
            eraseDrawing()
            Output.error("backline: \(text)")
        }
    }

    private func plainText(_ event: EngineEvent) -> String? {
        switch event {
        case .underrun(let track):
            "track \"\(track)\" ran out of data and faded out; the disk is too slow, or too busy"
        case .stemFailed(let problem): problem.description
        case .lost(let frames): "the server lost \(frames) frames; all tracks skipped them together"
        case .period(let frames): "the server's period is \(frames) frames now"
        case .notice(let text): text
        case .started, .paused, .ended, .located, .xrun, .serverGone: nil
        }
    }

    /// The mixer after a key.
    func noteKey(_ session: Session, soloIsNext: Bool) {
        self.session = session
        self.soloIsNext = soloIsNext
    }

    // MARK: The terminal

    /// Draws the position and the meters, on a terminal.
    func draw(_ engine: Engine) async {
        guard style == .terminal else { return }
        let status = await engine.status
        let levels = await engine.recentLevels()
        let size = TerminalSize.current
        var lines = [positionLine(status, width: size.columns)]
        let names = session.tracks.map(\.name) + session.buses.map(\.name)
        let width = min(16, names.map(\.count).max() ?? 0)
        for (i, track) in levels.tracks.enumerated() where i < size.rows - 4 {
            let state = session.tracks[i].mute ? "M" : session.tracks[i].solo ? "S" : " "
            let label =
                "\(i < 10 ? String((i + 1) % 10) : " ") \(state) \(Self.fit(session.tracks[i].name, width))"
            lines.append(meterLine(label, track.id, track.levels, width: size.columns))
        }
        for (i, bus) in levels.buses.enumerated() where lines.count < size.rows - 1 {
            lines.append(
                meterLine(
                    "    \(Self.fit(session.buses[i].name, width))", bus.id, bus.levels, width: size.columns))
        }
        var text = drawnLines > 0 ? "\u{1B}[\(drawnLines)A" : ""
        for line in lines { text += "\r\(line)\u{1B}[K\n" }
        text += "\u{1B}[J"
        drawnLines = lines.count
        Output.write(text, to: 1)
    }

    private func positionLine(_ status: EngineStatus, width: Int) -> String {
        let state = soloIsNext ? "s?" : status.isPlaying ? "▶ " : "⏸ "
        let times = "\(Output.time(status.position)) / \(status.duration.map { Output.time($0) } ?? "∞")"
        let space = max(8, min(60, width - times.count - 8))
        let part = status.duration.map { $0 > 0 ? min(1, status.position / $0) : 0 } ?? 0
        let full = Int(part * Double(space))
        return
            "\(state) \(times) \(String(repeating: "━", count: full))\(String(repeating: "─", count: space - full))"
    }

    /// A meter from −60 dB to full scale, its peak held for a second, and its number.
    private func meterLine(_ label: String, _ id: String, _ levels: Levels, width: Int) -> String {
        let peak = levels.channels.map(\.peak).max() ?? -.infinity
        let average = levels.channels.map(\.average).max() ?? -.infinity
        let now = Date()
        var hold = held[id] ?? (-.infinity, now)
        if peak >= hold.peak || now > hold.until { hold = (peak, now.addingTimeInterval(1)) }
        held[id] = hold
        let space = max(8, min(48, width - label.count - 14))
        let bar = Int(Self.part(average) * Double(space))
        let mark = min(space - 1, Int(Self.part(hold.peak) * Double(space)))
        var cells = (0..<space).map { $0 < bar ? "█" : " " }
        if hold.peak > -60 { cells[mark] = "▏" }
        let clips = levels.channels.contains { $0.clips > 0 } ? " CLIP" : ""
        return "\(label) \(cells.joined()) \(Output.decibels(hold.peak))\(clips)"
    }

    private static func part(_ decibels: Double) -> Double {
        max(0, min(1, (decibels + 60) / 60))
    }

    private static func fit(_ text: String, _ width: Int) -> String {
        let cut = text.count > width ? String(text.prefix(width - 1)) + "…" : text
        return cut + String(repeating: " ", count: max(0, width - cut.count))
    }

    private func eraseDrawing() {
        guard style == .terminal, drawnLines > 0 else { return }
        Output.write("\u{1B}[\(drawnLines)A\r\u{1B}[J", to: 1)
        drawnLines = 0
    }

    // MARK: The end

    /// What came of it.
    func finish(_ report: RunReport) {
        switch style {
        case .json: Output.json(ReportJSON(report))
        case .events: Output.json(FinishedJSON(report: ReportJSON(report)))
        case .terminal, .lines:
            for (id, levels) in report.levels.tracks.map({ ($0.id, $0.levels) })
                + report.levels.buses.map({ ($0.id, $0.levels) }) where style == .lines
            {
                let peak = levels.channels.map(\.peak).max() ?? -.infinity
                let average = levels.channels.map(\.average).max() ?? -.infinity
                Output.line("\(id): peak \(Output.decibels(peak)), average \(Output.decibels(average))")
            }
            let length = Output.time(Double(report.frames) / Double(report.sampleRate))
            var parts = ["played \(length)"]
            if report.underruns > 0 { parts.append("\(report.underruns) underruns") }
            if report.lostFrames > 0 { parts.append("\(report.lostFrames) frames lost by the server") }
            Output.line(parts.joined(separator: ", "))
        }
    }
}

/// An event for `--events`.
private struct EventJSON: Encodable {
    var event: String
    var position: Double?
    var track: String?
    var file: String?
    var frames: Int64?
    var count: Int?
    var text: String?

    init(event: String, text: String) {
        self.event = event
        self.text = text
    }

    init(_ happened: EngineEvent) {
        event = ""
        switch happened {
        case .started(let position): (event, self.position) = ("started", Output.number(position))
        case .paused(let position): (event, self.position) = ("paused", Output.number(position))
        case .ended(let position): (event, self.position) = ("ended", Output.number(position))
        case .located(let position): (event, self.position) = ("located", Output.number(position))
        case .underrun(let track): (event, self.track) = ("underrun", track)
        case .stemFailed(let problem):
            (event, track, file, text) = ("stemFailed", problem.track, problem.file, problem.reason)
        case .lost(let frames): (event, self.frames) = ("lost", frames)
        case .xrun(let count): (event, self.count) = ("xrun", count)
        case .period(let frames): (event, self.frames) = ("period", Int64(frames))
        case .notice(let text): (event, self.text) = ("notice", text)
        case .serverGone(let reason): (event, text) = ("serverGone", reason)
        }
    }
}

/// The last line of `--events`.
private struct FinishedJSON: Encodable {
    let event = "finished"
    let report: ReportJSON
}

/// What `--json` prints.
private struct ReportJSON: Encodable {
    let frames: Int64
    let sampleRate: Int
    let period: Int
    let xruns: Int
    let underruns: Int
    let lostFrames: Int64
    let losses: Int64
    let lateReadings: Int64
    let reanchorings: Int64
    let callbacks: Int64
    let loadMean: Double
    let loadMaximum: Double
    let overHalfPeriod: Int64
    let lostNotices: Int
    let tracks: [LevelsJSON]
    let buses: [LevelsJSON]
    let problems: [StemProblem]

    init(_ report: RunReport) {
        frames = report.frames
        sampleRate = report.sampleRate
        period = report.period
        xruns = report.xruns
        underruns = report.underruns
        lostFrames = report.lostFrames
        losses = report.losses
        lateReadings = report.lateReadings
        reanchorings = report.reanchorings
        callbacks = report.callbacks
        loadMean = report.loadMean
        loadMaximum = report.loadMaximum
        overHalfPeriod = report.overHalfPeriod
        lostNotices = report.lostNotices
        tracks = report.levels.tracks.map(LevelsJSON.init)
        buses = report.levels.buses.map(LevelsJSON.init)
        problems = report.problems
    }
}
