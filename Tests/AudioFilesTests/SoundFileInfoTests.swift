import AudioFiles
import Testing

@Suite("What a file is")
struct SoundFileInfoTests {
    @Test("Container, encoding, rate, channels, length and tags")
    func description() throws {
        let bench = try Workbench()
        try bench.makeMusic("music.wav", seconds: 1.5, rate: 44_100)
        try bench.run(
            "flac", "music.wav", "-T", "TITLE=Überschrift", "-T", "ARTIST=A", "-T", "GENRE=Rock", "-o",
            "a.flac")
        let flac = try SoundFileInfo(path: bench.path("a.flac"))
        #expect(flac.container.contains("FLAC"))
        #expect(flac.encoding == "Signed 24 bit PCM")
        #expect(flac.sampleRate == 44_100)
        #expect(flac.channelCount == 2)
        #expect(flac.frameCount == 66_150)
        #expect(flac.duration == 1.5)
        #expect(flac.tags == ["title": "Überschrift", "artist": "A", "genre": "Rock"])

        try bench.run("sox", "music.wav", "-b", "16", "m16.wav")
        try bench.run(
            "lame", "--tt", "T", "--ta", "A", "--tl", "L", "--ty", "1999", "--tn", "3", "m16.wav", "a.mp3")
        let mp3 = try SoundFileInfo(path: bench.path("a.mp3"))
        #expect(mp3.frameCount == 66_150)
        #expect(mp3.tags["album"] == "L")
        #expect(mp3.tags["tracknumber"] == "3")
    }

    @Test("A file that cannot be read is named")
    func refusal() {
        #expect(throws: AudioFileError.cannotOpen(path: "/absent.wav", reason: "No such file or directory")) {
            _ = try SoundFileInfo(path: "/absent.wav")
        }
    }
}
