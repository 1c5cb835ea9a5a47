@testable import AudioFiles
import Foundation
import Testing

@Suite("Padding that encoders add")
struct PaddingTests {
    private func track(_ edits: [Mp4Header.Edit], timescale: Int64 = 44_100) -> Mp4Header.Track {
        Mp4Header.Track(id: 1, timescale: timescale, duration: 0, edits: edits, isSound: true)
    }

    private func trim(_ change: (inout AvTrim.Evidence) -> Void) -> [Int64] {
        var evidence = AvTrim.Evidence(decoded: 100_000, sampleRate: 44_100)
        change(&evidence)
        let trim = AvTrim(evidence)
        return [trim.start, trim.length]
    }

    @Test("Without a word all is sound; packets and decoders may say what is not")
    func plain() {
        #expect(trim { _ in } == [0, 100_000])
        #expect(trim { ($0.before, $0.after) = (312, 600) } == [312, 99_088])
        #expect(trim { ($0.before, $0.after) = (200_000, 600) } == [100_000, 0])
    }

    @Test("An edit list tells both ends; one in milliseconds agrees with the media to a millisecond")
    func edits() {
        let exact = Mp4Header.Edit(duration: 90_000, mediaTime: 2_112)
        #expect(
            trim {
                $0.track = track([exact])
                $0.headerTimescale = 44_100
            } == [2_112, 90_000])
        // 98,976 frames are 2,244.353… ms.
        for milliseconds: Int64 in [2_244, 2_245] {
            let rounded = Mp4Header.Edit(duration: milliseconds, mediaTime: 1_024)
            #expect(
                trim {
                    $0.track = track([rounded])
                    $0.headerTimescale = 1_000
                } == [1_024, 98_976])
        }
        let shorter = Mp4Header.Edit(duration: 2_000, mediaTime: 1_024)
        #expect(
            trim {
                $0.track = track([Mp4Header.Edit(duration: 500, mediaTime: -1), shorter])
                $0.headerTimescale = 1_000
            } == [1_024, 88_200])
        // A clock of half the rate, as HE-AAC has.
        #expect(
            trim {
                $0.track = track([Mp4Header.Edit(duration: 0, mediaTime: 1_000)], timescale: 22_050)
                $0.headerTimescale = 1_000
            } == [2_000, 98_000])
    }

    @Test("iTunSMPB tells both ends, unless an edit list tells another beginning, or it is nonsense")
    func gapless() {
        let text = " 00000000 00000840 000001CA 0000000000015F90 00000000 00000000"
        #expect(trim { $0.gapless = text } == [2_112, 90_000])
        let other = track([Mp4Header.Edit(duration: 0, mediaTime: 1_024)])
        #expect(
            trim {
                $0.gapless = text
                $0.track = other
            } == [1_024, 98_976])
        for nonsense in ["", "a b", " 00000000 00000840 000001CA 00000000FFFFFFFF", " 0 FFFFF 0 10"] {
            #expect(trim { $0.gapless = nonsense } == [0, 100_000])
        }
    }

    @Test("A file whose only word is iTunSMPB lies on its WAV to the sample; without that word it does not")
    func gaplessFile() throws {
        let bench = try Workbench()
        try bench.makeMusic("music.wav", seconds: 3.012_3, rate: 44_100)
        let wav = try SoundFileSource(path: bench.path("music.wav"), sampleRate: 44_100)
        let frames = String(wav.frameCount, radix: 16, uppercase: true)
        let text = " 00000000 00000400 000001CA \(String(repeating: "0", count: 16 - frames.count))\(frames)"
        for isTold in [true, false] {
            let tags = isTold ? ["-movflags", "use_metadata_tags", "-metadata", "iTunSMPB=\(text)"] : []
            _ = try bench.encode("a.m4a", from: "music.wav", ["-c:a", "aac", "-use_editlist", "0"] + tags)
            let file = try SoundFileSource(path: bench.path("a.m4a"), sampleRate: 44_100)
            let late = delay(of: try file.allFrames(), behind: try wav.allFrames())
            #expect(late == (isTold ? 0 : 1_024))
            #expect((file.frameCount == wav.frameCount) == isTold)
        }
    }
}
