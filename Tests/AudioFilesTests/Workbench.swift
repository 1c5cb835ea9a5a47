import AudioFiles
import Foundation
import Testing

/// A temporary folder with sound files in it, made by the tools that people make them with.
final class Workbench {
    let folder: String

    init() throws {
        folder = NSTemporaryDirectory() + "backline-files-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func path(_ name: String) -> String { folder + "/" + name }

    func write(_ bytes: [UInt8], to name: String) throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: path(name)))
        return path(name)
    }

    func bytes(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: path(name))))
    }

    var files: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder).sorted()) ?? [] }

    /// Runs a tool in the folder; its failure is the test's.
    func run(_ command: String...) throws { try run(command) }

    /// Runs a tool in the folder; its failure is the test's.
    func run(_ command: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        process.currentDirectoryURL = URL(fileURLWithPath: folder)
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try #require(
            process.terminationStatus == 0,
            "\(command.joined(separator: " ")) failed; scripts/setup installs it")
    }

    /// Music-like noise and a chord: `NAME` in 24-bit WAV.
    func makeMusic(_ name: String, seconds: Double, rate: Int = 48_000, channels: Int = 2) throws {
        try run(
            "sox", "-R", "-n", "-r", "\(rate)", "-c", "\(channels)", "-b", "24", name, "synth", "\(seconds)",
            "pinknoise",
            "synth", "\(seconds)", "sine", "mix", "220", "sine", "mix", "331", "gain", "-9")
    }

    /// The same music in every format that stems come in, by the name of the file.
    func makeEveryFormat(seconds: Double) throws -> [String] {
        try makeMusic("music.wav", seconds: seconds)
        try run("sox", "music.wav", "-b", "16", "music16.wav")
        try run("sox", "music.wav", "-b", "16", "music.aiff")
        try run("sox", "music.wav", "-b", "32", "-e", "float", "musicf.wav")
        try run("sox", "music.wav", "music.w64")
        try run("sox", "music.wav", "music.caf")
        try run(
            "ffmpeg", "-i", "music.wav", "-c:a", "pcm_s24le", "-rf64", "always", "-f", "wav", "music.rf64")
        try run("flac", "music.wav", "-o", "music.flac")
        try run("oggenc", "-q", "5", "music16.wav", "-o", "music.ogg")
        try run("opusenc", "--bitrate", "128", "music16.wav", "music.opus")
        try run("lame", "-b", "192", "music16.wav", "music.mp3")
        return [
            "music.wav", "music16.wav", "music.aiff", "musicf.wav", "music.w64", "music.caf", "music.rf64",
            "music.flac",
            "music.ogg", "music.opus", "music.mp3",
        ]
    }
}

/// A WAV file, byte by byte, so that reading it is checked against something that no library made.
func wavBytes(format: UInt16, bits: Int, channels: Int, rate: Int, data: [UInt8]) -> [UInt8] {
    func u16(_ n: Int) -> [UInt8] { [UInt8(n & 255), UInt8(n >> 8 & 255)] }
    func u32(_ n: Int) -> [UInt8] { u16(n & 0xFFFF) + u16(n >> 16) }
    let frameBytes = channels * bits / 8
    let body =
        Array("WAVEfmt ".utf8) + u32(16) + u16(Int(format)) + u16(channels) + u32(rate)
        + u32(rate * frameBytes)
        + u16(frameBytes) + u16(bits) + Array("data".utf8) + u32(data.count) + data
    return Array("RIFF".utf8) + u32(body.count) + body
}

/// A small generator with a seed, so that a failure can be repeated.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {  // SplitMix64, Steele et al. 2014
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

extension SoundFileSource {
    /// `count` frames from `frame` on, asked for in one request.
    func frames(from frame: Int64, count: Int) throws -> [Float] {
        var buffer = [Float](repeating: .nan, count: count * channelCount)
        let n = try unsafe buffer.withUnsafeMutableBufferPointer {
            try unsafe read(from: frame, into: $0.baseAddress!, count: count)
        }
        return Array(buffer.prefix(n * channelCount))
    }

    /// All frames, in requests of `block`.
    func allFrames(block: Int = 4_096) throws -> [Float] {
        var all: [Float] = []
        while true {
            let more = try frames(from: Int64(all.count / channelCount), count: block)
            if more.isEmpty { return all }
            all += more
        }
    }
}

/// Names the first sample that differs.
func expectIdentical(
    _ a: [Float], _ b: [Float], _ what: String, sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(a.count == b.count, "\(what): lengths differ", sourceLocation: sourceLocation)
    if let i = zip(a, b).enumerated().first(where: { $1.0.bitPattern != $1.1.bitPattern })?.offset {
        Issue.record("\(what): sample \(i) is \(a[i]) here and \(b[i]) there", sourceLocation: sourceLocation)
    }
}

func decibels(_ amplitude: Float) -> Double { 20 * Double(amplitude).magnitude.logarithm10 }

extension Double {
    var logarithm10: Double { Foundation.log10(max(self, 1e-15)) }
}

/// The largest difference of two signals, in dB.
func differenceInDecibels(_ a: [Float], _ b: [Float]) -> Double {
    decibels(zip(a, b).map { abs($0 - $1) }.max() ?? 0)
}
