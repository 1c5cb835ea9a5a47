import AudioFiles
import EngineHost
import Foundation
import Testing

@Suite("Reading files at the session's rate")
struct ReadingTests {
    let bench: Workbench

    init() throws { bench = try Workbench() }

    @Test("Integer samples of 16 and 24 bits become exactly n / 2^(bits − 1)", arguments: [16, 24])
    func integerSamplesAreExact(bits: Int) throws {
        var generator = SeededGenerator(state: 1)
        let limit = 1 << (bits - 1)
        let edges = [-limit, -limit + 1, -1, 0, 1, limit - 1]
        let samples =
            edges
            + (0..<20_003 * 3 - edges.count).map { _ in Int.random(in: -limit..<limit, using: &generator) }
        let data = samples.flatMap { n in (0..<bits / 8).map { UInt8(n >> (8 * $0) & 255) } }
        let path = try bench.write(
            wavBytes(format: 1, bits: bits, channels: 3, rate: 48_000, data: data), to: "integers.wav")
        let source = try SoundFileSource(path: path, sampleRate: 48_000)
        #expect(source.channelCount == 3)
        #expect(source.frameCount == 20_003)
        expectIdentical(
            try source.allFrames(block: 7_777), samples.map { Float($0) / Float(limit) }, "\(bits) bits")
    }

    @Test("Floating-point samples come unchanged, save that NaN and infinity become 0 and are counted")
    func floatSamplesAreExact() throws {
        var generator = SeededGenerator(state: 2)
        var samples = (0..<50_000).map { _ in Float.random(in: -8...8, using: &generator) }
        samples[7] = .nan
        samples[40_001] = -.infinity
        samples[49_999] = .greatestFiniteMagnitude
        let data = samples.flatMap { s in (0..<4).map { UInt8(truncatingIfNeeded: s.bitPattern >> (8 * $0)) }
        }
        let path = try bench.write(
            wavBytes(format: 3, bits: 32, channels: 2, rate: 48_000, data: data), to: "floats.wav")
        let source = try SoundFileSource(path: path, sampleRate: 48_000)
        samples[7] = 0
        samples[40_001] = 0
        expectIdentical(try source.allFrames(), samples, "floats")
        #expect(source.nonFiniteSampleCount == 2)
    }

    @Test("Every format opens, states its length and is delivered the same however it is asked for")
    func everyFormat() throws {
        for name in try bench.makeEveryFormat(seconds: 3) {
            let source = try SoundFileSource(path: bench.path(name), sampleRate: 48_000)
            #expect(source.channelCount == 2, "\(name)")
            #expect(source.frameCount == 144_000, "\(name)")
            let all = try source.allFrames()
            #expect(all.count == 288_000, "\(name)")
            #expect((all.map(abs).max() ?? 0) > 0.1, "\(name) is silent")

            var generator = SeededGenerator(state: 3)
            var pieces: [Float] = []
            while pieces.count < all.count {
                let block = Int.random(in: 1...9_000, using: &generator)
                pieces += try source.frames(from: Int64(pieces.count / 2), count: block)
            }
            expectIdentical(pieces, all, "\(name) in random pieces")

            for _ in 0..<40 {
                let frame = Int.random(in: 0..<143_000, using: &generator)
                let part = try source.frames(from: Int64(frame), count: 1_000)
                let same = Array(all[2 * frame..<2 * frame + 2_000])
                if name.hasSuffix("opus") || name.hasSuffix("mp3") {
                    #expect(differenceInDecibels(part, same) < -130, "\(name) from frame \(frame)")
                } else {
                    expectIdentical(part, same, "\(name) from frame \(frame)")
                }
            }
        }
    }

    @Test("Lossless formats deliver the bits of the WAV that they were made from")
    func losslessFormatsAgree() throws {
        _ = try bench.makeEveryFormat(seconds: 1)
        let wav = try SoundFileSource(path: bench.path("music.wav"), sampleRate: 48_000).allFrames()
        for name in ["music.w64", "music.caf", "music.rf64", "music.flac", "musicf.wav"] {
            let other = try SoundFileSource(path: bench.path(name), sampleRate: 48_000).allFrames()
            expectIdentical(other, wav, name)
        }
    }

    @Test("1 to 64 channels", arguments: [1, 2, 3, 8, 17, 63, 64])
    func channels(count: Int) throws {
        let samples = (0..<count * 1_000).map { $0 % 65_536 - 32_768 }
        let data = samples.flatMap { [UInt8($0 & 255), UInt8($0 >> 8 & 255)] }
        let path = try bench.write(
            wavBytes(format: 1, bits: 16, channels: count, rate: 48_000, data: data), to: "channels.wav")
        let source = try SoundFileSource(path: path, sampleRate: 48_000)
        #expect(source.channelCount == count)
        expectIdentical(
            try source.allFrames(block: 333), samples.map { Float($0) / 32_768 }, "\(count) channels")
    }

    @Test("65 channels are refused by name")
    func tooManyChannels() throws {
        let path = try bench.write(
            wavBytes(
                format: 1, bits: 16, channels: 65, rate: 48_000, data: .init(repeating: 0, count: 1_300)),
            to: "wide.wav")
        #expect(throws: AudioFileError.tooManyChannels(path: path, channelCount: 65)) {
            _ = try SoundFileSource(path: path, sampleRate: 48_000)
        }
    }

    @Test("A stream of unknown length is delivered whole", arguments: ["flac", "mp3", "ogg", "wav"])
    func unknownLength(format: String) throws {
        try bench.makeMusic("music.wav", seconds: 2)
        try bench.run("sh", "-c", "ffmpeg -i music.wav -f \(format) - | cat > piped")
        let source = try SoundFileSource(path: bench.path("piped"), sampleRate: 48_000)
        let all = try source.allFrames()
        #expect(all.count == 2 * Int(source.frameCount))
        #expect(96_000...99_000 ~= source.frameCount)
        expectIdentical(try source.allFrames(block: 1_000), all, "a second time")
    }

    @Test("A file that breaks off is delivered up to there, then read throws once, naming file and frame")
    func truncated() throws {
        try bench.makeMusic("music.wav", seconds: 2)
        try bench.run("flac", "music.wav", "-o", "whole.flac")
        let whole = try SoundFileSource(path: bench.path("whole.flac"), sampleRate: 48_000).allFrames()
        let bytes = try bench.bytes("whole.flac")
        let path = try bench.write(Array(bytes.prefix(bytes.count / 2)), to: "half.flac")
        let source = try SoundFileSource(path: path, sampleRate: 48_000)
        #expect(source.frameCount == 96_000)

        var all: [Float] = []
        let failure = #expect(throws: SourceFailure.self) {
            while true { all += try source.frames(from: Int64(all.count / 2), count: 5_000) }
        }
        let frame = all.count / 2
        #expect(30_000..<60_000 ~= frame)
        expectIdentical(all, Array(whole.prefix(all.count)), "what decodes")
        #expect(failure?.description.contains("half.flac beyond its frame \(frame)") == true)
        #expect(try source.frames(from: Int64(frame), count: 100).isEmpty)
        #expect(try source.frames(from: 90_000, count: 100).isEmpty)
        expectIdentical(
            try source.frames(from: 1_000, count: 100), Array(whole[2_000..<2_200]), "back at the start")
    }

    @Test("What is no sound file is refused with its name and a reason")
    func refusals() throws {
        try bench.run("mkfifo", "pipe")
        _ = try bench.write(Array("not a sound".utf8), to: "text.wav")
        for name in ["absent.wav", "pipe", ".", "text.wav"] {
            let error = #expect(throws: AudioFileError.self) {
                _ = try SoundFileSource(path: bench.path(name), sampleRate: 48_000)
            }
            #expect(error?.description.contains(bench.path(name)) == true)
        }
    }
}
