import AudioFiles
import EngineHost
import Foundation
import Testing

@Suite("Damaged files of the formats that libav opens")
struct DamagedForeignFileTests {
    /// Cut off, flipped in a few bits, or both, of all formats together.
    static let mutationCount = 1_400

    @Test(
        "1,400 damaged files: what decodes is delivered or an error names the file, within 10 s, without a crash"
    )
    func damagedFiles() throws {
        let bench = try Workbench()
        try bench.makeMusic("music.wav", seconds: 1.2)
        let names = [
            try bench.encode("a.m4a", from: "music.wav", ["-c:a", "aac"]),
            try bench.encode("f.m4a", from: "music.wav", ["-c:a", "aac", "-movflags", "+faststart"]),
            try bench.encode("l.m4a", from: "music.wav", ["-c:a", "alac", "-movflags", "+faststart"]),
            try bench.encode(
                "g.mp4", from: "music.wav", ["-c:a", "aac", "-movflags", "frag_keyframe+empty_moov"]),
            try bench.encode("a.wma", from: "music.wav", ["-c:a", "wmav2"]),
            try bench.encode("a.wv", from: "music.wav", ["-c:a", "wavpack"]),
            try bench.encode("a.mka", from: "music.wav", ["-c:a", "aac"]),
            try bench.encode("a.webm", from: "music.wav", ["-c:a", "libopus"]),
            try bench.encode("v.webm", from: "music.wav", ["-c:a", "libvorbis"]),
            try bench.encode("a.aac", from: "music.wav", ["-c:a", "aac"]),
            try bench.encode("a.ts", from: "music.wav", ["-c:a", "aac"]),
            try bench.encode("a.avi", from: "music.wav", ["-c:a", "ac3"]),
            try bench.encode("a.tta", from: "music.wav", ["-c:a", "tta"]),
        ]
        let wholes = try names.map { try bench.bytes($0) }
        var generator = SeededGenerator(state: 4_711)
        var outcomes = [0, 0, 0]
        for i in 0..<Self.mutationCount {
            let name = names[i % names.count]
            var bytes = wholes[i % names.count]
            let what = "mutation \(i), \(name): " + mutate(&bytes, using: &generator)
            let path = try bench.write(bytes, to: "damaged" + name.suffix(4))
            let start = ContinuousClock.now
            outcomes[read(path, what)] += 1
            #expect(ContinuousClock.now - start < .seconds(10), "\(what)")
        }
        #expect(outcomes.allSatisfy { $0 > 20 }, "whole, told, refused: \(outcomes)")
    }

    @Test("A file that names other files opens none of them", arguments: ["concat", "hls", "m3u8"])
    func playlists(kind: String) throws {
        let bench = try Workbench()
        try bench.makeMusic("music.wav", seconds: 0.5)
        _ = try bench.encode("a.aac", from: "music.wav", ["-c:a", "aac"])
        let text =
            kind == "concat"
            ? "ffconcat version 1.0\nfile a.aac\n"
            : "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:1\n#EXTINF:0.5,\na.aac\n#EXT-X-ENDLIST\n"
        for name in ["list", "list.m3u8", "list.m4a"] {
            let path = try bench.write(Array(text.utf8), to: name)
            #expect(throws: AudioFileError.self) { _ = try SoundFileSource(path: path, sampleRate: 48_000) }
        }
        // The control: ffmpeg itself follows the list.
        _ = try bench.write(Array(text.utf8), to: "followed.m3u8")
        try bench.run(
            ["ffmpeg", "-y", "-f", kind == "concat" ? "concat" : "hls", "-allowed_extensions", "ALL"].filter {
                kind != "concat" || !["-allowed_extensions", "ALL"].contains($0)
            }
                + ["-i", "followed.m3u8", "followed.wav"])
    }

    @Test("Names that look like addresses are files")
    func names() throws {
        let bench = try Workbench()
        try bench.makeMusic("music.wav", seconds: 0.5)
        _ = try bench.encode("a.wv", from: "music.wav", ["-c:a", "wavpack"])
        for name in ["http:a.wv", "concat:a.wv", "pipe:0", "a%03d.wv", "-a.wv"] {
            _ = try bench.write(try bench.bytes("a.wv"), to: name)
            #expect(
                try SoundFileSource(path: bench.path(name), sampleRate: 48_000).frameCount == 24_000,
                "\(name)")
        }
    }

    private func mutate(_ bytes: inout [UInt8], using generator: inout SeededGenerator) -> String {
        var what: [String] = []
        let kind = Int.random(in: 0..<4, using: &generator)
        if kind <= 1 {
            let length = Int.random(in: 0..<bytes.count, using: &generator)
            bytes.removeLast(bytes.count - length)
            what.append("cut to \(length) bytes")
        }
        if kind >= 1, !bytes.isEmpty {
            // MP4 files keep their header at one of their ends.
            let places = [
                0..<bytes.count, 0..<min(1_500, bytes.count), max(0, bytes.count - 1_500)..<bytes.count,
            ]
            for _ in 0..<Int.random(in: 1...10, using: &generator) {
                let place = Int.random(
                    in: places[Int.random(in: 0..<3, using: &generator)], using: &generator)
                let bit = UInt8(1) << UInt8.random(in: 0..<8, using: &generator)
                bytes[place] ^= bit
                what.append("\(place)^\(bit)")
            }
        }
        return what.joined(separator: " ")
    }

    /// Reads the file through, then a little from two places within; 0 for a whole file, 1 for one whose damage was
    /// told, 2 for one that was refused.
    private func read(_ path: String, _ what: String) -> Int {
        func expectNamed(_ error: any Error) {
            #expect("\(error)".contains(path) || "\(error)".contains("Hz"), "\(what): \(error)")
        }
        _ = try? SoundFileContents(path: path)
        let source: SoundFileSource
        do { source = try SoundFileSource(path: path, sampleRate: 48_000) } catch {
            expectNamed(error)
            return 2
        }
        #expect(1...64 ~= source.channelCount, "\(what)")
        var failures = 0
        for (place, most) in [
            (0, 48_000 * 20), (source.frameCount / 2, 8_192), (max(0, source.frameCount - 5_000), 8_192),
        ] {
            var frame = place
            while frame - place < most {
                do {
                    let samples = try source.frames(from: frame, count: 8_192)
                    if samples.isEmpty { break }
                    #expect(!samples.contains { !$0.isFinite }, "\(what)")
                    frame += Int64(samples.count / source.channelCount)
                } catch {
                    expectNamed(error)
                    failures += 1
                }
            }
        }
        #expect(failures <= 1, "\(what): the break is told once")
        return failures > 0 || source.truncation != nil ? 1 : 0
    }
}
