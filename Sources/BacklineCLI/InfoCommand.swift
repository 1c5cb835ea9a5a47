import AudioFiles
import Backline
import Foundation
import Session

/// `backline info`: what a file is, and what is wrong with a session.
enum InfoCommand: Command {
    static let name = "info"
    static let summary = "say what files are: format, rate, channels, duration, tags; and check sessions"
    static let usage = "FILE… [--json]"
    static let details = """
        The exit status is 1 when a file cannot be read or a session is wrong, and 3 when a file breaks off or a session
        lacks a stem.
        """
    static let options: [Arguments.Option] = [.init("json", nil, "print one JSON object")]

    static func run(_ arguments: Arguments) async throws -> ExitStatus {
        guard !arguments.rest.isEmpty else { throw UsageError(message: "name a file") }
        let reports = arguments.rest.map { path in
            SessionDocument.isSessionFile(path) ? FileReport(session: path) : FileReport(soundFile: path)
        }
        if arguments.has("json") {
            Output.json(["files": reports], pretty: true)
        } else {
            for report in reports { report.tell() }
        }
        if reports.contains(where: { $0.error != nil }) { return .failed }
        return reports.contains { $0.sound?.damage != nil || $0.session?.problems.isEmpty == false }
            ? .degraded : .done
    }
}

/// What is known of a file.
private struct FileReport: Encodable {
    let file: String
    var sound: SoundFileInfo?
    var session: SessionReport?
    var error: String?

    init(soundFile path: String) {
        file = path
        do {
            sound = try SoundFileInfo(path: path)
        } catch {
            self.error = error.description
        }
    }

    init(session path: String) {
        file = path
        do {
            session = SessionReport(try SessionDocument(reading: path))
        } catch {
            self.error = error.description
        }
    }

    func tell() {
        if let error {
            for line in error.split(separator: "\n") { Output.error("backline: \(line)") }
        }
        if let sound { tell(sound) }
        if let session { session.tell(file) }
    }

    private static func channels(_ count: Int) -> String {
        switch count {
        case 1: "mono"
        case 2: "stereo"
        default: "\(count) channels"
        }
    }

    private func tell(_ sound: SoundFileInfo) {
        Output.line("\(file)")
        Output.line("  \(sound.container), \(sound.encoding)")
        Output.line(
            "  \(sound.sampleRate) Hz, \(Self.channels(sound.channelCount)), \(Output.time(sound.duration)) (\(sound.frameCount) frames)"
        )
        for (number, stream) in (sound.streams ?? []).enumerated() {
            let name = stream.name.map { " \"\(Output.oneLine($0))\"" } ?? ""
            let kind = "\(stream.encoding), \(stream.sampleRate) Hz, \(Self.channels(stream.channelCount))"
            Output.line("  stream \(number)\(name): \(kind)")
        }
        for (name, value) in sound.tags.sorted(by: { $0.key < $1.key }) {
            Output.line("  \(name): \(Output.oneLine(value))")
        }
        if let artwork = sound.artwork {
            Output.line("  artwork: \(Output.oneLine(artwork.type)), \(artwork.byteCount) bytes")
        }
        if let damage = sound.damage { Output.error("backline: \(damage)") }
    }
}

/// What a session holds, and what is wrong with it.
private struct SessionReport: Encodable {
    struct Stem: Encodable {
        let track: String
        let file: String
        let duration: Double?
        let sampleRate: Int?
        let channels: Int?
    }

    let name: String
    let sampleRate: Int?
    let stems: [Stem]
    let buses: [String]
    let problems: [StemProblem]

    init(_ document: SessionDocument) {
        var stems: [Stem] = []
        var problems: [StemProblem] = []
        for track in document.session.tracks {
            for clip in track.clips {
                do throws(AudioFileError) {
                    let info = try SoundFileInfo(path: document.path(of: clip.file), stream: clip.stream)
                    if let damage = info.damage {
                        problems.append(StemProblem(track: track.id, file: clip.file, reason: damage))
                    }
                    stems.append(
                        Stem(
                            track: track.id, file: clip.file, duration: info.duration,
                            sampleRate: info.sampleRate,
                            channels: info.channelCount))
                } catch {
                    stems.append(
                        Stem(track: track.id, file: clip.file, duration: nil, sampleRate: nil, channels: nil))
                    problems.append(StemProblem(track: track.id, file: clip.file, reason: error.description))
                }
            }
        }
        name = document.session.name
        sampleRate = document.session.sampleRate
        self.stems = stems
        buses = document.session.buses.map(\.id)
        self.problems = problems
    }

    func tell(_ file: String) {
        Output.line("\(file)")
        Output.line("  session \"\(name)\", \(sampleRate.map { "\($0) Hz" } ?? "at its first file's rate")")
        for stem in stems {
            let length = stem.duration.map { Output.time($0) } ?? "cannot be read"
            let kind = stem.sampleRate.map { ", \($0) Hz, \(stem.channels ?? 0) channels" } ?? ""
            Output.line("  track \"\(stem.track)\": \(stem.file), \(length)\(kind)")
        }
        Output.line("  buses: \(buses.joined(separator: ", "))")
        for problem in problems { Output.error("backline: \(file): \(problem)") }
    }
}
