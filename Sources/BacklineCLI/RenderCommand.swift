import AudioFiles
import Backline
import Foundation

/// `backline render`: mixes a session down to a file.
enum RenderCommand: Command {
    static let name = "render"
    static let summary = "mix a session down to a file, without JACK"
    static let usage = "SESSION|FILE… -o FILE [options]"
    static let details = """
        The file is 24 bits unless its format has no such samples, and is there only once it is whole. 16 and 24 bits
        clip at full scale, which is counted and told; 16 bits are dithered. The mix is that of the bus "main".
        """
    static let options: [Arguments.Option] =
        [
            .init("-o", "FILE", "the file to write; its ending says its format"),
            .init("format", "F", "wav, rf64, w64, aiff, caf, flac, ogg, opus or mp3"),
            .init("bits", "16|24|32f", "what samples the file has"),
            .init("rate", "N", "the file's sample rate, if not the session's"),
            .init("bus", "BUS", "the bus to write, if not main"),
            .init("block", "N", "frames a block, 1 to 8192 (4096); every size gives the same bits"),
            .init("from", "SECONDS", "begin at this place of the timeline"),
            .init("seconds", "N", "write so much; a session that loops for ever needs it"),
        ] + RateOptions.all + [
            .init("strict", nil, "a missing or damaged stem is an error"),
            .init("force", nil, "replace an existing file"),
            .init("json", nil, "print one JSON object at the end"),
            .init("-q", nil, "no progress bar"),
        ]

    static func run(_ arguments: Arguments) async throws -> ExitStatus {
        guard let path = arguments.string("-o") else {
            throw UsageError(message: "say where to write with -o FILE")
        }
        var options = Mixdown.Options()
        options.bus = arguments.string("bus")
        options.format = try arguments.choice("format", SoundFileFormat.self)
        options.samples = try arguments.choice("bits", SampleFormat.self)
        options.fileRate = try arguments.integer("rate", in: 1_000...768_000)
        options.block = try arguments.integer("block", in: 1...8192) ?? 4096
        options.from = try arguments.seconds("from") ?? 0
        options.seconds = try arguments.length("seconds")
        options.replaces = arguments.has("force")
        options.isStrict = arguments.has("strict")
        var document = try SessionDocument.named(arguments.rest)
        try RateOptions.apply(arguments, to: &document)

        let interruption = Interruption()
        let bar = ProgressBar(isShown: Output.isTerminal && !arguments.has("json") && !arguments.has("-q"))
        let result = try Mixdown.render(document, to: path, options: options) { part in
            bar.show(part)
            return !interruption.isAsked
        }
        bar.clear()
        guard let result else {
            Output.error("backline: render: interrupted; \(path) was not written")
            return .interrupted
        }
        for problem in result.problems { Output.error("backline: \(problem)") }
        if arguments.has("json") {
            Output.json(RenderResult(path: path, result: result))
        } else {
            tell(result, path)
        }
        return result.problems.isEmpty ? .done : .degraded
    }

    private static func tell(_ result: Mixdown.Result, _ path: String) {
        let length = Double(result.frames) / Double(result.sampleRate)
        let speed = result.elapsed > 0 ? Int(length / result.elapsed) : 0
        Output.line(
            "\(path): \(Output.time(length)) in \(String(format: "%.2f", result.elapsed)) s, \(speed) × real time"
        )
        if result.clippedSamples > 0 {
            let subject =
                result.clippedSamples == 1 ? "1 sample was" : "\(result.clippedSamples) samples were"
            Output.error(
                "backline: \(subject) above full scale and clipped; lower the volumes, or write --bits 32f, "
                    + "which cannot clip")
        }
    }

    /// What `--json` prints.
    private struct RenderResult: Encodable {
        let file: String
        let frames: Int64
        let sampleRate: Int
        let clippedSamples: Int64
        let elapsed: Double
        let speed: Double
        let tracks: [LevelsJSON]
        let buses: [LevelsJSON]
        let problems: [StemProblem]

        init(path: String, result: Mixdown.Result) {
            file = path
            frames = result.frames
            sampleRate = result.sampleRate
            clippedSamples = result.clippedSamples
            elapsed = result.elapsed
            speed = Double(result.frames) / Double(result.sampleRate) / max(result.elapsed, 1e-9)
            tracks = result.levels.tracks.map(LevelsJSON.init)
            buses = result.levels.buses.map(LevelsJSON.init)
            problems = result.problems
        }
    }
}

/// A track's or a bus's levels in JSON: dB below full scale a channel, null for silence.
struct LevelsJSON: Encodable {
    let name: String
    let peak: [Double?]
    let average: [Double?]
    let peakBeforeFader: [Double?]
    let averageBeforeFader: [Double?]
    let clips: [Int]

    init(id: String, levels: Levels) {
        name = id
        peak = levels.channels.map { Output.number($0.peak) }
        average = levels.channels.map { Output.number($0.average) }
        peakBeforeFader = levels.channelsBeforeFader.map { Output.number($0.peak) }
        averageBeforeFader = levels.channelsBeforeFader.map { Output.number($0.average) }
        clips = levels.channels.map(\.clips)
    }
}

extension SessionDocument {
    /// The session that the command line names: one session file, or sound files to be started together.
    static func named(_ names: [String]) throws -> SessionDocument {
        guard let first = names.first else {
            throw UsageError(message: "name a session file, or sound files")
        }
        guard names.contains(where: SessionDocument.isSessionFile) else {
            return SessionDocument(files: names)
        }
        guard names.count == 1 else {
            throw UsageError(
                message: "name one session file, or sound files, not both: \(names.joined(separator: " "))")
        }
        return try SessionDocument(reading: first)
    }
}
