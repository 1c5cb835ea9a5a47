import Foundation
import Stretch
import Testing
import TestSupport

/// Against the program `rubberband`, of the package rubberband-cli: the same library, engine and options.
@Suite("Like the program rubberband")
struct ProgramTests {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "stretch-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private static let frames: Int64 = 60_000

    private static func music(_ channel: Int, _ frame: Int64) -> Float {
        let t = Double(frame) / 48_000
        let tone = 0.2 * sin(2 * .pi * 97 * t) + 0.1 * sin(2 * .pi * (1_234 + 100 * Double(channel)) * t)
        return Float(tone) + 0.3 * noise(channel, frame) * Float(exp(-Double(frame % 9_000) / 800))
    }

    /// What the program makes of it. `--pitchmap` turns on the resampler that a pitch of ours has.
    private func program(_ engine: StretchEngine, rate: Double, semitones: Double) throws -> [Float] {
        let input = folder.appending(path: "in.wav")
        let output = folder.appending(path: "out.wav")
        let map = folder.appending(path: "map")
        try wave().write(to: input)
        try Data("0 0\n".utf8).write(to: map)
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["rubberband", "--realtime", "--quiet", "--ignore-clipping"]
        process.arguments! += engine == .fine ? ["--fine"] : ["--fast", "--bl-transients"]
        process.arguments! += ["--time", "\(1 / rate)"]
        if semitones != 0 { process.arguments! += ["--pitch", "\(semitones)", "--pitchmap", map.path] }
        process.arguments! += [input.path, output.path]
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "rubberband failed; scripts/setup test installs it")
        return try samples(Data(contentsOf: output))
    }

    private func wave() -> Data {
        var samples: [Float] = []
        for frame in 0..<Self.frames { samples += [Self.music(0, frame), Self.music(1, frame)] }
        let body = unsafe samples.withUnsafeBytes { unsafe Data($0) }
        var data = Data("RIFF".utf8)
        func add(_ value: Int, _ bytes: Int) {
            for i in 0..<bytes { data.append(UInt8(truncatingIfNeeded: value >> (8 * i))) }
        }
        add(36 + body.count, 4)
        data += Data("WAVEfmt ".utf8)
        for (value, bytes) in [(16, 4), (3, 2), (2, 2), (48_000, 4), (384_000, 4), (8, 2), (32, 2)] {
            add(value, bytes)
        }
        data += Data("data".utf8)
        add(body.count, 4)
        return data + body
    }

    private func samples(_ file: Data) throws -> [Float] {
        let start = try #require(file.range(of: Data("data".utf8))).upperBound + 4
        let bytes = [UInt8](file[start...])
        return stride(from: 0, to: bytes.count - 3, by: 4).map { at in
            Float(bitPattern: (0..<4).reduce(0) { $0 | UInt32(bytes[at + $1]) << (8 * UInt32($1)) })
        }
    }

    @Test(
        "The same to the bit, but for the last window", arguments: engines, [0.5, 0.8, 1.25, 2])
    func same(engine: StretchEngine, rate: Double) throws {
        try compare(engine, rate: rate, semitones: 0)
    }

    @Test("So with a pitch", arguments: engines, [-3.0, 4])
    func pitched(engine: StretchEngine, semitones: Double) throws {
        try compare(engine, rate: 0.9, semitones: semitones)
    }

    private func compare(_ engine: StretchEngine, rate: Double, semitones: Double) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let theirs = try program(engine, rate: rate, semitones: semitones)
        let source = ProbeSource(channels: 2, frames: Self.frames) { Self.music($0, $1) }
        let ours = try play(try Stretcher(source, engine, rate: rate, semitones: semitones))
        // The program lets its last window run dry; ours goes on into silence.
        let count = min(ours.count, theirs.count) - 2 * Int(4_096 / rate * 2)
        try #require(count > 20_000)
        expectNull(Array(ours[..<count]), Array(theirs[..<count]), below: -120)
        let late = Array(ours[2..<count] + [0, 0])
        #expect(peakDecibels(zip(late, theirs).map { $0 - $1 }) > -40, "a frame's shift is seen")
    }
}
