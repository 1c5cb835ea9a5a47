import Foundation
import Testing

/// A folder of sound files and sessions for one test, removed with this object.
final class Bench: Sendable {
    let folder: URL
    /// What programs say, out of the way of what they make.
    private let hiddenFolder: URL

    init() throws {
        let place = FileManager.default.temporaryDirectory
        let name = UUID().uuidString
        folder = place.appending(path: "cli-\(name)")
        hiddenFolder = place.appending(path: "cli-\(name)-said")
        for made in [folder, hiddenFolder] {
            try FileManager.default.createDirectory(at: made, withIntermediateDirectories: true)
        }
    }

    deinit {
        for made in [folder, hiddenFolder] { try? FileManager.default.removeItem(at: made) }
    }

    func path(_ name: String) -> String { folder.appending(path: name).path }
    func hidden(_ name: String) -> String { hiddenFolder.appending(path: name).path }

    /// What is in the folder, in order.
    var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
    }

    func write(_ bytes: some Collection<UInt8>, to name: String) throws {
        try Data(bytes).write(to: folder.appending(path: name))
    }

    func bytes(_ name: String) throws -> Data { try Data(contentsOf: folder.appending(path: name)) }

    /// Runs a tool in the folder, and expects it to succeed.
    func tool(_ words: String..., sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let ending = try await Program.start(words, in: self).ending(sourceLocation: sourceLocation)
        try #require(
            ending.status == 0 && ending.signal == nil, "\(words): \(ending.errors)",
            sourceLocation: sourceLocation)
    }

    /// Makes a sine by sox, whose ending says what file it is.
    func tone(
        _ name: String, hertz: Int = 440, seconds: Double = 1, channels: Int = 2, bits: Int = 16,
        rate: Int = 48_000
    ) async throws {
        try await tool(
            "sox", "-D", "-n", "-r", "\(rate)", "-c", "\(channels)", "-b", "\(bits)", name, "synth",
            "\(seconds)",
            "sine", "\(hertz)", "gain", "-6")
    }

    /// Writes interleaved floats as a WAV file: the header's 44 bytes, then the samples as they are in memory.
    func wav(_ name: String, _ samples: [Float], channels: Int = 2, rate: Int = 48_000) throws {
        var bytes: [UInt8] = []
        func text(_ word: String) { bytes += Array(word.utf8) }
        func number(_ value: Int, _ size: Int) {
            for i in 0..<size { bytes.append(UInt8(value >> (8 * i) & 255)) }
        }
        text("RIFF"); number(36 + 4 * samples.count, 4); text("WAVEfmt "); number(16, 4)
        number(3, 2); number(channels, 2); number(rate, 4); number(rate * channels * 4, 4)
        number(channels * 4, 2); number(32, 2); text("data"); number(4 * samples.count, 4)
        for sample in samples { number(Int(sample.bitPattern), 4) }
        try write(bytes, to: name)
    }

    /// Decodes a file with ffmpeg: its interleaved samples as floats, exact for PCM up to 24 bits and for float.
    func decode(_ name: String) async throws -> [Float] {
        let raw = hidden(UUID().uuidString)
        try await tool("ffmpeg", "-v", "error", "-nostdin", "-i", path(name), "-f", "f32le", raw)
        let data = try Data(contentsOf: URL(filePath: raw))
        return stride(from: 0, to: data.count - 3, by: 4).map { i in
            Float(bitPattern: (0..<4).reduce(0) { $0 | UInt32(data[i + $1]) << UInt32(8 * $1) })
        }
    }

    /// What ffprobe says of a file's one stream.
    func probe(_ name: String) async throws -> [String: String] {
        let probe = try await Program.start(
            [
                "ffprobe", "-v", "error", "-show_entries",
                "stream=codec_name,sample_rate,channels,duration_ts", "-of",
                "default=noprint_wrappers=1", path(name),
            ], in: self
        ).ending()
        return Dictionary(
            probe.output.split(separator: "\n").compactMap { line in
                let parts = line.split(separator: "=").map(String.init)
                return parts.count == 2 ? (parts[0], parts[1]) : nil
            }, uniquingKeysWith: { $1 })
    }

    /// Writes a session of these tracks and buses, each as JSON.
    func session(
        _ name: String = "session.backline.json", rate: Int = 48_000, tracks: [String], buses: [String] = []
    )
        throws
    {
        let busList = buses.isEmpty ? "" : ", \"buses\": [\(buses.joined(separator: ", "))]"
        try write(
            """
            {"format": "backline-session/1", "sampleRate": \(rate),
             "tracks": [
            \(tracks.joined(separator: ",\n"))
             ]\(busList)}
            """.utf8, to: name)
    }
}
