public import AudioFiles
import EngineHost
import Foundation
import RenderCore
import Session

/// Renders a session to a file, without a server, by the same render core that plays it.
public struct Mixdown: Sendable {
    /// What is rendered, and how.
    public struct Options: Sendable {
        /// The bus that is written; nil means `main`.
        public var bus: String?
        /// Timeline seconds at which the file begins.
        public var from = 0.0
        /// Length in seconds of the file; nil up to the last sound.
        public var seconds: Double?
        /// Frames a block, 1 to 8,192. Every size gives the same bits.
        public var block = 4096
        /// The file's sample rate, if not the session's.
        public var fileRate: Int?
        /// What the file is; nil by its name's ending.
        public var format: SoundFileFormat?
        /// Its samples; nil what the format takes best.
        public var samples: SampleFormat?
        /// Whether an existing file is replaced.
        public var replaces = false
        /// Whether a stem that cannot be opened is an error.
        public var isStrict = false

        /// The whole session, to a file of 24 bits.
        public init() {}
    }

    /// What came of it.
    public struct Result: Sendable {
        /// Frames of the session that were rendered.
        public var frames: Int64
        /// Frames a second of the session.
        public var sampleRate: Int
        /// Samples that were clipped in the file.
        public var clippedSamples: Int64
        /// Levels of all tracks and buses.
        public var levels: LevelReport
        /// Stems that are missing or failed.
        public var problems: [StemProblem]
        /// Seconds that it took.
        public var elapsed: Double
    }

    /// Renders `document` to the file at `path`.
    ///
    /// `progress` is told the part that is done, 0 to 1, a few times a second; when it returns false the file is
    /// removed and the result is nil. The calling thread is busy until it is done.
    public static func render(
        _ document: SessionDocument, to path: String, options: Options, progress: (Double) -> Bool
    ) throws(BacklineError) -> Result? {
        let began = DispatchTime.now().uptimeNanoseconds
        let session = document.session
        let sampleRate = session.sampleRate ?? StemLoader.firstRate(of: document)
        let bus = options.bus ?? "main"
        if options.replaces { try spareSources(of: document, from: path) }
        let stage = try Stage(document, sampleRate: sampleRate, outputBus: bus)
        if options.isStrict && !stage.problems.isEmpty { throw .stems(stage.problems) }
        let from = stage.frames(options.from)
        try checkLength(of: stage, from: from, seconds: options.seconds)
        let writer = try MixdownFile(
            path: path, options: options, channelCount: stage.outputNames.count, sampleRate: sampleRate)
        let driver = OfflineDriver(host: stage.host, outputCount: stage.outputNames.count)
        stage.host.streaming.start(
            threads: max(2, ProcessInfo.processInfo.activeProcessorCount), priority: nil)
        defer { stage.host.streaming.stop() }
        let stream = driver.primeAndWait(StreamMap(start: from))
        do throws(CommandRingFull) {
            try stage.host.send([stream.locate, .start])
        } catch {
            throw .full("the engine takes no commands")
        }
        stage.host.noteSent(stream)
        let frames = options.seconds.map(stage.frames) ?? stream.frameCount ?? 0

        var sums = MeterSums()
        var done: Int64 = 0
        var nextReport = began
        while done < frames {
            let count = Int(min(Int64(options.block), frames - done))
            driver.render(count)
            try writer.write(driver, frames: count)
            done += Int64(count)
            sums.collect(stage.host)
            let now = DispatchTime.now().uptimeNanoseconds
            if now >= nextReport {
                nextReport = now + 100_000_000
                guard progress(Double(done) / Double(frames)) else {
                    writer.discard()
                    return nil
                }
            }
        }
        try writer.finish()
        _ = progress(1)
        sums.finish(stage.host, driver)
        let failures = stage.failures()
        return Result(
            frames: frames, sampleRate: sampleRate, clippedSamples: writer.clippedSamples,
            levels: stage.report(sums.tracks, buses: sums.buses), problems: stage.problems + failures,
            elapsed: Double(DispatchTime.now().uptimeNanoseconds - began) / 1e9)
    }

    /// Refuses to replace what the mix is made of.
    private static func spareSources(of document: SessionDocument, from path: String) throws(BacklineError) {
        func identity(_ path: String) -> [UInt]? {
            var status = stat()
            return unsafe stat(path, &status) == 0 ? [UInt(status.st_dev), UInt(status.st_ino)] : nil
        }
        guard let target = identity(path) else { return }
        if let file = document.file, identity(file) == target {
            throw .output("cannot write \(path): it is the session itself; give another name")
        }
        for track in document.session.tracks {
            for clip in track.clips where identity(document.path(of: clip.file)) == target {
                throw .output(
                    "cannot write \(path): it is a stem of track \"\(track.id)\"; give another name")
            }
        }
    }

    private static func checkLength(of stage: Stage, from: Int64, seconds: Double?) throws(BacklineError) {
        if seconds != nil { return }
        guard let end = stage.end else {
            throw .endless("the session loops for ever, so its mix has no end; say how much with --seconds")
        }
        guard end > from else {
            throw .time(
                "the session ends at \(stage.seconds(end)) s, so there is nothing to render from "
                    + "\(stage.seconds(from)) s on; give an earlier --from")
        }
    }
}

/// The meters of a run, added up.
struct MeterSums {
    private(set) var tracks: [SlotID: LevelSum] = [:]
    private(set) var buses: [SlotID: LevelSum] = [:]

    /// Adds what has been read since the last call, if there is something.
    mutating func collect(_ host: RenderHost) {
        if let reading = host.collectMeters() { add(reading) }
    }

    /// Adds a reading.
    mutating func add(_ reading: MeterReading) {
        for (slot, meters) in reading.tracks {
            tracks[slot, default: LevelSum()].add(meters, frames: reading.frames)
        }
        for (slot, meters) in reading.buses {
            buses[slot, default: LevelSum()].add(meters, frames: reading.frames)
        }
    }

    /// Adds what the last blocks left: the banks change places once more, at a block that is not kept.
    mutating func finish(_ host: RenderHost, _ driver: OfflineDriver) {
        collect(host)
        driver.render(1)
        collect(host)
    }
}

/// The file that a mix is written to.
private final class MixdownFile {
    private let writer: SoundFileWriter
    private let converter: RateConverter
    private let channelCount: Int
    private var interleaved: [Float]

    init(path: String, options: Mixdown.Options, channelCount: Int, sampleRate: Int) throws(BacklineError) {
        guard let format = options.format ?? SoundFileFormat(extensionOf: path) else {
            let known = SoundFileFormat.allCases.map(\.rawValue).joined(separator: ", ")
            throw .output("cannot tell what \(path) is to be by its name; say --format, one of \(known)")
        }
        let rate = options.fileRate ?? sampleRate
        do throws(AudioFileError) {
            converter = try RateConverter(from: sampleRate, to: rate, channelCount: channelCount)
            writer = try SoundFileWriter(
                path: path, format: format, samples: options.samples, channelCount: channelCount,
                sampleRate: rate,
                force: options.replaces)
        } catch {
            throw .output(error.description)
        }
        self.channelCount = channelCount
        interleaved = Array(repeating: 0, count: channelCount * RenderState.maximumBlock)
    }

    var clippedSamples: Int64 { writer.clippedSampleCount }

    func write(_ driver: OfflineDriver, frames: Int) throws(BacklineError) {
        for c in 0..<channelCount {
            let channel = unsafe driver.output(c)
            for n in 0..<frames { unsafe interleaved[n * channelCount + c] = channel[n] }
        }
        do throws(AudioFileError) {
            try unsafe interleaved.withUnsafeBufferPointer { samples throws(AudioFileError) in
                try unsafe converter.push(samples.baseAddress!, count: frames) {
                    piece, count throws(AudioFileError) in
                    try unsafe writer.write(piece, count: count)
                }
            }
        } catch {
            throw .output(error.description)
        }
    }

    func finish() throws(BacklineError) {
        do throws(AudioFileError) {
            try unsafe converter.finish { piece, count throws(AudioFileError) in
                try unsafe writer.write(piece, count: count)
            }
            try writer.finish()
        } catch {
            throw .output(error.description)
        }
    }

    func discard() { writer.discard() }
}

extension Stage {
    /// Stems that failed while they were read, since the last call.
    func failures() -> [StemProblem] {
        host.failures.take().compactMap { entry in
            tracks.firstIndex(of: entry.slot).map { i in
                StemProblem(
                    track: session.tracks[i].id, file: session.tracks[i].clips.first?.file ?? "",
                    reason: entry.failure.description)
            }
        }
    }
}
