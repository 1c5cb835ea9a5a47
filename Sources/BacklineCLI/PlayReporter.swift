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
    private let meters = MeterDisplay()

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
        case .json, .terminal, .lines: error(text)
        }
    }

    /// Something went wrong.
    func error(_ text: String) {
        meters.erase()
        Output.error("backline: \(text)")
    }

    /// A stem that cannot be heard, from the start on.
    func problem(_ problem: StemProblem) {
        if style == .events { Output.json(EventJSON(.stemFailed(problem))) }
        error(problem.description)
    }

    /// Before the first sound.
    func begin(_ status: EngineStatus) {
        guard style == .lines || style == .terminal else { return }
        let length =
            (status.duration.map { Output.time($0) } ?? "for ever")
            + (status.rate == 1 ? "" : ", at speed \(Output.plain(status.rate))")
        let count = session.tracks.count
        Output.line(
            "\(session.name.isEmpty ? "playing" : session.name): \(count) track\(count == 1 ? "" : "s"), \(length)"
        )
    }

    /// Something happened.
    func tell(_ event: EngineEvent) {
        switch style {
        case .events: Output.json(EventJSON(event))
        case .json: if case .stemFailed(let problem) = event { error(problem.description) }
        case .terminal, .lines: if let text = plainText(event) { error(text) }
        }
    }

    private func plainText(_ event: EngineEvent) -> String? {
        switch event {
        case .underrun(let track, .disk):
            "track \"\(track)\" ran out of data and faded out; the disk is too slow, or too busy"
        case .underrun(let track, .stretching(let mode)):
            "track \"\(track)\" was not stretched in time, in \"\(mode.rawValue)\", and faded out"
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
        guard style == .terminal, Output.isForeground(1) else { return }
        meters.draw(await engine.status, await engine.recentLevels(), of: session, soloIsNext: soloIsNext)
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
    var cause: String?

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
        case .underrun(let track, .disk): (event, self.track, cause) = ("underrun", track, "disk")
        case .underrun(let track, .stretching(let mode)):
            (event, self.track, cause) = ("underrun", track, "stretching-\(mode.rawValue)")
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
