import AudioFiles
import EngineHost
import Foundation
import Testing

@Suite("Formats that libav opens")
struct ForeignFormatTests {
    let bench: Workbench

    init() throws {
        bench = try Workbench()
        // An odd length, which is no whole number of packets or milliseconds.
        try bench.makeMusic("music.wav", seconds: 12.345_67, rate: 44_100)
        try bench.run("sox", "-D", "music.wav", "-b", "16", "music16.wav")
    }

    private func encode(
        _ name: String, from source: String = "music16.wav", _ options: String...
    ) throws -> String {
        try bench.encode(name, from: source, options)
    }

    private func open(_ name: String, stream: Int = 0) throws -> SoundFileSource {
        try SoundFileSource(path: bench.path(name), sampleRate: 44_100, stream: stream)
    }

    @Test(
        "Lossless files have the bits of their WAV",
        arguments: [
            ("a.m4a", "music16.wav", "alac"), ("b.m4a", "music.wav", "alac"),
            ("a.wv", "music16.wav", "wavpack"),
            ("b.wv", "music.wav", "wavpack"), ("a.tta", "music16.wav", "tta"), ("a.mkv", "music.wav", "flac"),
            ("b.mkv", "music.wav", "pcm_s24le"), ("a.mov", "music.wav", "pcm_s24le"),
            ("a.avi", "music16.wav", "pcm_s16le"),
        ])
    func lossless(name: String, source: String, codec: String) throws {
        _ = try encode(name, from: source, "-c:a", codec)
        let file = try open(name)
        #expect(file.frameCount == 544_444)
        #expect(file.truncation == nil)
        expectIdentical(try file.allFrames(), try open(source).allFrames(), name)
    }

    @Test(
        "Lossy files lie on their WAV to the sample, and are as long",
        arguments: [
            ("a.m4a", "aac"), ("a.mp4", "libmp3lame"), ("v.mp4", "aac"), ("a.mp3", "libmp3lame"),
        ])
    func lossyFilesAlign(name: String, codec: String) throws {
        let picture =
            name.hasPrefix("v") ? ["-f", "lavfi", "-i", "testsrc=d=13:s=64x64", "-c:v", "mpeg4"] : []
        _ = try bench.encode(name, from: "music16.wav", picture + ["-c:a", codec, "-b:a", "192k"])
        let file = try open(name)
        let wav = try open("music16.wav").allFrames()
        let sound = try file.allFrames()
        #expect(file.frameCount == 544_444, "\(name)")
        #expect(delay(of: sound, behind: wav) == 0, "\(name)")
    }

    @Test("Opus in WebM and in MP4 lies on its WAV to the sample", arguments: ["a.webm", "a.mp4"])
    func opus(name: String) throws {
        try bench.run("sox", "-D", "music16.wav", "-r", "48000", "music48.wav")
        _ = try encode(name, from: "music48.wav", "-c:a", "libopus", "-b:a", "192k")
        let wav = try SoundFileSource(path: bench.path("music48.wav"), sampleRate: 48_000)
        let file = try SoundFileSource(path: bench.path(name), sampleRate: 48_000)
        #expect(file.frameCount == wav.frameCount)
        #expect(delay(of: try file.allFrames(), behind: try wav.allFrames()) == 0)
    }

    @Test("control: a file one frame late is told from its WAV")
    func alignmentControl() throws {
        let wav = try open("music16.wav").allFrames()
        #expect(delay(of: [0, 0] + wav.dropLast(2), behind: wav) == 1)
    }

    @Test("A seek gives the bits of reading through, in every format and any number of times")
    func seeks() throws {
        let names = [
            try encode("a.m4a", "-c:a", "aac", "-b:a", "96k"), try encode("b.m4a", "-c:a", "alac"),
            try encode("a.wv", "-c:a", "wavpack"), try encode("a.wma", "-c:a", "wmav2"),
            try encode("1.wma", "-c:a", "wmav1"), try encode("a.mkv", "-c:a", "aac"),
            try encode("f.mkv", "-c:a", "flac"), try encode("a.webm", "-c:a", "libopus"),
            try encode("v.webm", "-c:a", "libvorbis"), try encode("a.ts", "-c:a", "aac"),
            try encode("a.aac", "-c:a", "aac"), try encode("a.avi", "-c:a", "libmp3lame"),
            try encode("a.mka", "-c:a", "ac3"), try encode("a.tta", "-c:a", "tta"),
        ]
        var generator = SeededGenerator(state: 5)
        for name in names {
            let source = try SoundFileSource(
                path: bench.path(name), sampleRate: name == "a.webm" ? 48_000 : 44_100)
            let all = try source.allFrames()
            #expect(all.count == 2 * Int(source.frameCount), "\(name)")
            #expect((all.map(abs).max() ?? 0) > 0.1, "\(name) is silent")
            for i in 0..<60 {
                // Far ahead, back, and a little on, by turns.
                let frame =
                    i % 3 == 2
                    ? min(all.count / 2 - 1_000, i * 2_000)
                    : Int.random(in: 0..<all.count / 2, using: &generator)
                let count = min(1_500, all.count / 2 - frame)
                let part = try source.frames(from: Int64(frame), count: count)
                // The control: one frame beside it is something else.
                if count == 1_500, frame > 0 {
                    #expect(part != Array(all[2 * frame - 2..<2 * (frame + count) - 2]), "\(name)")
                }
                expectIdentical(
                    part, Array(all[2 * frame..<2 * (frame + count)]), "\(name) from frame \(frame)")
            }
        }
    }

    @Test("Another rate is converted as that of any file")
    func otherRate() throws {
        _ = try encode("a.m4a", "-c:a", "alac")
        let file = try SoundFileSource(path: bench.path("a.m4a"), sampleRate: 48_000)
        let wav = try SoundFileSource(path: bench.path("music16.wav"), sampleRate: 48_000)
        #expect(file.frameCount == wav.frameCount)
        expectIdentical(try file.allFrames(), try wav.allFrames(), "converted")
    }

    @Test("Each audio stream of a file opens by its number, and a number too high is refused")
    func streams() throws {
        try bench.run("sox", "-D", "music16.wav", "other.wav", "reverse")
        _ = try encode("two.mka", "-i", bench.path("other.wav"), "-map", "0:a", "-map", "1:a", "-c:a", "flac")
        expectIdentical(try open("two.mka").allFrames(), try open("music16.wav").allFrames(), "stream 0")
        expectIdentical(
            try open("two.mka", stream: 1).allFrames(), try open("other.wav").allFrames(), "stream 1")
        let path = bench.path("two.mka")
        #expect(throws: AudioFileError.noStream(path: path, stream: 2, streamCount: 2)) {
            _ = try open("two.mka", stream: 2)
        }
        #expect(throws: AudioFileError.noStream(path: bench.path("music.wav"), stream: 1, streamCount: 1)) {
            _ = try open("music.wav", stream: 1)
        }
        #expect(try SoundFileContents(path: path).streams.count == 2)
    }

    @Test("A file cut off is delivered up to there, and says what is missing")
    func truncated() throws {
        _ = try encode("whole.m4a", "-c:a", "alac", "-movflags", "+faststart")
        _ = try encode("whole.wv", "-c:a", "wavpack")
        for name in ["whole.m4a", "whole.wv"] {
            let whole = try open(name).allFrames()
            let bytes = try bench.bytes(name)
            let path = try bench.write(Array(bytes.prefix(bytes.count / 2)), to: "half" + name)
            let half = try open("half" + name)
            #expect(
                half.truncation?.description.contains("\(path) beyond its frame \(half.frameCount)") == true)
            #expect(half.truncation?.description.contains("s before its header says so") == true)
            let all = try half.allFrames()
            #expect(
                all.count == 2 * Int(half.frameCount) && all.count > whole.count / 3
                    && all.count < whole.count)
            expectIdentical(all, Array(whole.prefix(all.count)), name)
        }
    }
}

extension Workbench {
    /// Encodes with ffmpeg, into a file of that name.
    func encode(_ name: String, from source: String, _ options: [String]) throws -> String {
        try run(["ffmpeg", "-y", "-i", source] + options + ["-shortest", name])
        return name
    }
}

/// By how many frames the left channel of `sound` lies behind that of `reference`: where their correlation over
/// four stretches is largest, within 4,000 frames.
func delay(of sound: [Float], behind reference: [Float]) -> Int {
    let frames = min(sound.count, reference.count) / 2
    var best = (delay: 0, likeness: -Float.infinity)
    for candidate in -2_500...2_500 {
        var sum: Float = 0
        for stretch in 1...4 {
            let start = stretch * frames / 6
            for i in stride(from: start, to: start + 700, by: 1) {
                sum += reference[2 * i] * sound[2 * (i + candidate)]
            }
        }
        if sum > best.likeness { best = (candidate, sum) }
    }
    return best.delay
}
