import AudioFiles
import Foundation
import Testing

@Suite("Writing files")
struct WritingTests {
    let bench: Workbench

    init() throws { bench = try Workbench() }

    private func noise(_ count: Int, amplitude: Float = 0.5) -> [Float] {
        var generator = SeededGenerator(state: 8)
        return (0..<count).map { _ in Float.random(in: -amplitude...amplitude, using: &generator) }
    }

    @discardableResult
    private func write(
        _ samples: [Float], to name: String, format: SoundFileFormat = .wav, as kind: SampleFormat? = nil,
        channels: Int = 2, rate: Int = 48_000, force: Bool = false
    ) throws -> SoundFileWriter {
        let writer = try SoundFileWriter(
            path: bench.path(name), format: format, samples: kind, channelCount: channels, sampleRate: rate,
            force: force)
        try writer.write(samples)
        try writer.finish()
        return writer
    }

    private func read(_ name: String) throws -> [Float] {
        try SoundFileSource(path: bench.path(name), sampleRate: 48_000).allFrames()
    }

    @Test(
        "Floats come back to the bit, 24-bit samples to half a step",
        arguments: [SoundFileFormat.wav, .rf64, .w64, .aiff, .caf])
    func roundTrip(format: SoundFileFormat) throws {
        let samples = noise(20_002)
        try write(samples, to: "float", format: format, as: .float32)
        expectIdentical(try read("float"), samples, "\(format)")
        try write(samples, to: "int", format: format, as: .int24)
        expectIdentical(
            try read("int"), samples.map { ($0 * 0x1p23).rounded(.toNearestOrEven) * 0x1p-23 }, "\(format)")
        let info = try SoundFileInfo(path: bench.path("int"))
        #expect(info.encoding == "Signed 24 bit PCM")
        #expect(info.frameCount == 10_001)
        #expect(bench.files == ["float", "int"])
    }

    @Test("FLAC holds the samples of 24-bit WAV")
    func flac() throws {
        let samples = noise(20_002)
        try write(samples, to: "a.flac", format: .flac)
        try write(samples, to: "a.wav")
        expectIdentical(try read("a.flac"), try read("a.wav"), "FLAC and WAV")
        try bench.run("flac", "--test", "a.flac")
    }

    @Test("Lossy formats keep the length and the music", arguments: [SoundFileFormat.ogg, .opus, .mp3])
    func lossy(format: SoundFileFormat) throws {
        let tone = (0..<96_000).map { Float(0.5 * sin(2 * .pi * 440 * Double($0 / 2) / 48_000)) }
        try write(tone + [.nan, .infinity], to: "tone", format: format)
        let back = try read("tone")
        #expect(abs(back.count - tone.count) <= 2 * 2_304)
        let middle = 20_000..<80_000
        let power = back[middle].reduce(0) { $0 + $1 * $1 } / Float(middle.count)
        #expect(abs(decibels(power.squareRoot()) - decibels(0.5 * Float(0.5).squareRoot())) < 0.2)
    }

    @Test("A WAV file that stays below 4 GiB is plain WAV, whole for other readers, and the same every time")
    func plainWav() throws {
        let samples = noise(10_000)
        try write(samples, to: "a.wav", as: .int16)
        try write(samples, to: "b.wav", as: .int16)
        let bytes = try bench.bytes("a.wav")
        #expect(bytes.starts(with: Array("RIFF".utf8)))
        #expect(try bytes == bench.bytes("b.wav"))
        try bench.run("ffmpeg", "-v", "error", "-xerror", "-i", "a.wav", "-f", "f32le", "raw")
        let raw = try bench.bytes("raw")
        let floats = unsafe raw.withUnsafeBytes { unsafe Array($0.bindMemory(to: Float.self)) }
        expectIdentical(floats, try read("a.wav"), "what ffmpeg reads")
    }

    @Test("Integers clip, and clipped samples are counted", arguments: [SampleFormat.int16, .int24])
    func clipping(kind: SampleFormat) throws {
        let samples: [Float] = [0, 1.2, -1.2, 1, -1, .infinity, -.infinity, 0.5]
        let writer = try write(samples, to: "a.wav", as: kind)
        #expect(writer.clippedSampleCount == 5, "−1 fits, 1 does not")
        let back = try read("a.wav")
        let top: Float = kind == .int16 ? 32_767 / 32_768 : 8_388_607 / 8_388_608
        for i in [1, 3, 5] { #expect(abs(back[i] - top) <= 0x1p-14) }
        for i in [2, 4, 6] { #expect(abs(back[i] + 1) <= 0x1p-14) }
        try write([.nan, 0], to: "nan.wav", as: .int24)
        #expect(try read("nan.wav") == [0, 0])
    }

    @Test("Floating point does not clip")
    func floatsDoNotClip() throws {
        let writer = try write([3, -3], to: "a.wav", as: .float32)
        #expect(writer.clippedSampleCount == 0)
        #expect(try read("a.wav") == [3, -3])
    }

    @Test("Dither leaves an error without a mean, of the right power, white, and apart from the signal")
    func dither() throws {
        let n = 1 << 16
        // A tone of less than a step: without dither it would vanish.
        let step: Float = 1 / 32_768
        let tone = (0..<n).map { 0.4 * step * Float(sin(2 * .pi * 1_000 * Double($0) / 48_000)) }
        try write(tone, to: "a.wav", as: .int16, channels: 1)
        let back = try read("a.wav")
        let errors = zip(back, tone).map { Double(($0 - $1) / step) }
        #expect(abs(errors.reduce(0, +) / Double(n)) < 0.02)
        // Triangular dither of 1/6 and the rounding's 1/12 make 1/4 of a squared step.
        let power = errors.reduce(0) { $0 + $1 * $1 } / Double(n)
        #expect(abs(power - 0.25) < 0.01)
        for lag in [1, 2, 3, 48] {
            let correlation =
                zip(errors, errors.dropFirst(lag)).reduce(0) { $0 + $1.0 * $1.1 } / Double(n) / power
            #expect(abs(correlation) < 0.02, "lag \(lag)")
        }
        let withTone = zip(errors, tone).reduce(0) { $0 + $1.0 * Double($1.1 / step) } / Double(n)
        #expect(abs(withTone) < 0.01)
        #expect(errors.map(abs).max()! <= 1.5)
    }

    @Test("An existing file is refused, at the start and at the end, and is not touched")
    func refusesExisting() throws {
        let path = try bench.write([1, 2, 3], to: "a.wav")
        #expect(throws: AudioFileError.exists(path: path)) { try write([0, 0], to: "a.wav") }
        let writer = try SoundFileWriter(
            path: bench.path("b.wav"), format: .wav, channelCount: 1, sampleRate: 48_000)
        try writer.write([0, 0])
        _ = try bench.write([4, 5], to: "b.wav")
        #expect(throws: AudioFileError.exists(path: bench.path("b.wav"))) { try writer.finish() }
        #expect(try bench.bytes("a.wav") == [1, 2, 3])
        #expect(try bench.bytes("b.wav") == [4, 5])
        #expect(bench.files == ["a.wav", "b.wav"])
    }

    @Test("With force an existing file is replaced, but only by a whole one, and only if it is a file")
    func force() throws {
        let path = try bench.write([1, 2, 3], to: "a.wav")
        var writer: SoundFileWriter? = try SoundFileWriter(
            path: path, format: .wav, channelCount: 1, sampleRate: 48_000, force: true)
        try writer?.write([0, 0])
        #expect(try bench.bytes("a.wav") == [1, 2, 3])
        writer = nil
        #expect(try bench.bytes("a.wav") == [1, 2, 3])
        #expect(bench.files == ["a.wav"])
        try write([0.5, -0.5], to: "a.wav", force: true)
        #expect(try read("a.wav") == [0.5, -0.5])
        #expect(throws: AudioFileError.self) {
            _ = try SoundFileWriter(
                path: "/dev/null", format: .wav, channelCount: 1, sampleRate: 48_000, force: true)
        }
    }

    @Test("Discarding leaves nothing")
    func discard() throws {
        let writer = try SoundFileWriter(
            path: bench.path("a.wav"), format: .wav, channelCount: 1, sampleRate: 48_000)
        try writer.write(noise(1_000))
        writer.discard()
        #expect(bench.files.isEmpty)
    }

    @Test("What a format cannot hold is refused with the mend, before anything is created")
    func unsupported() throws {
        let cases: [(SoundFileFormat, SampleFormat?, Int, Int)] = [
            (.flac, .float32, 2, 48_000), (.flac, nil, 9, 48_000), (.mp3, nil, 3, 48_000),
            (.opus, nil, 2, 44_100),
            (.mp3, nil, 2, 96_000), (.ogg, .int16, 2, 48_000), (.wav, nil, 65, 48_000), (.wav, nil, 2, 1),
        ]
        for (format, samples, channels, rate) in cases {
            #expect(throws: AudioFileError.self, "\(format)") {
                _ = try SoundFileWriter(
                    path: bench.path("x"), format: format, samples: samples, channelCount: channels,
                    sampleRate: rate)
            }
        }
        #expect(throws: AudioFileError.self) {
            _ = try SoundFileWriter(
                path: bench.path("none/x.wav"), format: .wav, channelCount: 1, sampleRate: 48_000)
        }
        #expect(bench.files.isEmpty)
    }

    @Test(
        "A full disk is an error that names the file and the reason, and leaves nothing",
        .enabled(if: geteuid() == 0, "mounting a small disk needs root"), arguments: SoundFileFormat.allCases)
    func fullDisk(format: SoundFileFormat) throws {
        try bench.run("mkdir", "disk")
        try bench.run("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", "disk")
        defer { try? bench.run("umount", "disk") }
        let path = bench.path("disk/a")
        let block = noise(48_000)
        let error = #expect(throws: AudioFileError.self) {
            let writer = try SoundFileWriter(path: path, format: format, channelCount: 2, sampleRate: 48_000)
            for _ in 0..<200 { try writer.write(block) }
            try writer.finish()
        }
        #expect(error == .cannotWrite(path: path, reason: "No space left on device"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.path("disk")).isEmpty)
    }

    @Test(
        "A disk that becomes full at the very end is noticed too", .enabled(if: geteuid() == 0, "needs root"))
    func fullAtTheEnd() throws {
        try bench.run("mkdir", "disk")
        try bench.run("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", "disk")
        defer { try? bench.run("umount", "disk") }
        let writer = try SoundFileWriter(
            path: bench.path("disk/a.flac"), format: .flac, channelCount: 2, sampleRate: 48_000)
        try writer.write(noise(4_000))
        try bench.run("sh", "-c", "dd if=/dev/zero of=disk/filler bs=4k || true")
        #expect(throws: AudioFileError.self) { try writer.finish() }
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.path("disk")) == ["filler"])
    }

    @Test("A name's ending says its format")
    func endings() {
        #expect(SoundFileFormat(extensionOf: "a/b.c/mix.WAV") == .wav)
        #expect(SoundFileFormat(extensionOf: "mix.aif") == .aiff)
        #expect(SoundFileFormat(extensionOf: "a.flac/mix") == nil)
        #expect(SoundFileFormat(extensionOf: "mix.txt") == nil)
    }
}

extension SoundFileWriter {
    func write(_ samples: [Float]) throws {
        try unsafe samples.withUnsafeBufferPointer {
            try unsafe write($0.baseAddress!, count: samples.count / channelCount)
        }
    }
}
