import AudioFiles
import EngineHost
import Foundation
import Testing

@Suite("Damaged files")
struct DamagedFileTests {
    /// Truncated and bit-flipped files of all formats together.
    static let mutationCount = 2_000

    @Test(
        "2,000 damaged files: what decodes is delivered or an error names the file, within 5 s, without a crash"
    )
    func damagedFiles() throws {
        let bench = try Workbench()
        let names = try bench.makeEveryFormat(seconds: 0.5)
        let wholes = try names.map { try bench.bytes($0) }
        var generator = SeededGenerator(state: 9)
        for i in 0..<Self.mutationCount {
            let name = names[i % names.count]
            var bytes = wholes[i % names.count]
            let what = mutate(&bytes, inHeader: (i / names.count).isMultiple(of: 2), using: &generator)
            let path = try bench.write(bytes, to: "damaged")
            let start = ContinuousClock.now
            read(path, "mutation \(i), \(name): \(what)")
            let taken = ContinuousClock.now - start
            #expect(taken < .seconds(5), "mutation \(i), \(name): \(what)")
        }
        #expect(try openDescriptors(under: bench.folder) == 0)
    }

    /// Cuts the file off or flips up to eight bits; half of the places lie in the first 256 bytes.
    private func mutate(
        _ bytes: inout [UInt8], inHeader: Bool, using generator: inout SeededGenerator
    ) -> String {
        let range = 0..<(inHeader ? min(256, bytes.count) : bytes.count)
        if Int.random(in: 0..<4, using: &generator) == 0 {
            let length = Int.random(in: range, using: &generator)
            bytes.removeLast(bytes.count - length)
            return "cut to \(length) bytes"
        }
        let places = (0..<Int.random(in: 1...8, using: &generator)).map { _ in
            (Int.random(in: range, using: &generator), UInt8(1) << UInt8.random(in: 0..<8, using: &generator))
        }
        for (place, bit) in places { bytes[place] ^= bit }
        return "flipped \(places)"
    }

    /// Reads the file from the start to its end or break, then a little from two places within.
    private func read(_ path: String, _ what: String) {
        func expectNamed(_ error: any Error) {
            #expect("\(error)".contains(path) || "\(error)".contains("Hz"), "\(what): \(error)")
        }
        let source: SoundFileSource
        do { source = try SoundFileSource(path: path, sampleRate: 48_000) } catch {
            return expectNamed(error)
        }
        #expect(1...64 ~= source.channelCount, "\(what)")
        var failures = 0
        var frame: Int64 = 0
        let minute: Int64 = 48_000 * 60  // a damaged header may promise hours of silence
        let places = [
            (0, minute), (source.frameCount / 2, 8_192), (max(0, source.frameCount - 5_000), 8_192),
        ]
        for (place, most) in places {
            frame = place
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
    }

    private func openDescriptors(under folder: String) throws -> Int {
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        let paths = descriptors.compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        }
        return paths.count { $0.hasPrefix(folder) }
    }
}
