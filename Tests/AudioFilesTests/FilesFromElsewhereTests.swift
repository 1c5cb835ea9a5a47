import AudioFiles
import EngineHost
import Foundation
import Testing

@Suite("Sound files from elsewhere")
struct FilesFromElsewhereTests {
    /// Where scripts/fetch-foreign-files has put them; nil, and why, where it could not.
    private static let folder: (path: String?, reason: String) = {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let path = root.appending(path: ".build/foreign-files").path
        let process = Process()
        process.executableURL = root.appending(path: "scripts/fetch-foreign-files")
        let errors = Pipe()
        process.standardError = errors
        process.standardOutput = FileHandle.nullDevice
        do { try process.run() } catch { return (nil, "\(error)") }
        let said = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return process.terminationStatus == 0 ? (path, "") : (nil, said)
    }()

    /// What ffprobe says of a file's first audio stream, where its container counts frames: its length.
    private func probedFrames(_ path: String) throws -> Int64? {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "ffprobe", "-v", "error", "-select_streams", "a:0", "-show_entries",
            "stream=sample_rate,time_base,duration_ts", "-of", "default=noprint_wrappers=1", path,
        ]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        var values: [Substring: Substring] = [:]
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1)
            if parts.count == 2, values[parts[0]] == nil { values[parts[0]] = parts[1] }
        }
        guard let rate = values["sample_rate"], values["time_base"] == "1/\(rate)" else { return nil }
        return values["duration_ts"].flatMap { Int64($0) }
    }

    /// Files of which ffprobe tells something else, and why that is not their length.
    private static let exceptions = [
        "example.opus": "its first page does not begin at 0, and ffprobe counts from there"
    ]

    @Test("Each opens with the length that ffprobe tells to the frame, or fails with a clear error")
    func lengths() throws {
        guard let folder = Self.folder.path else {
            print("note: files from elsewhere were not tested: \(Self.folder.reason)")
            return
        }
        var (compared, refused, opened) = (0, 0, 0)
        for path in try files(in: folder) {
            let name = URL(fileURLWithPath: path).lastPathComponent
            let source: SoundFileSource
            do {
                let info = try SoundFileInfo(path: path)
                source = try SoundFileSource(path: path, sampleRate: info.sampleRate)
            } catch {
                refused += 1
                #expect("\(error)".contains(path) && "\(error)".contains(";"), "\(name): \(error)")
                continue
            }
            opened += 1
            try readAround(source, path)
            guard let probed = try probedFrames(path), Self.exceptions[name] == nil else { continue }
            compared += 1
            #expect(
                source.frameCount == probed || source.truncation != nil,
                "\(name) has \(source.frameCount) frames, ffprobe says \(probed)")
        }
        print(
            "note: files from elsewhere: \(opened) opened, \(compared) compared with ffprobe, \(refused) refused"
        )
        #expect(compared >= 35 && opened >= 60 && refused >= 10)
    }

    @Test("Each stream of a stem file opens, and the four stems sum to about its mix")
    func stems() throws {
        guard let folder = Self.folder.path else { return }
        let path = try #require(try files(in: folder).first { $0.hasSuffix(".stem.mp4") })
        let contents = try SoundFileContents(path: path)
        #expect(contents.isStemFile)
        #expect(contents.streams.map(\.name) == [nil, "Drums", "Bass", "Other", "Vox"])
        #expect(contents.artwork?.type == "image/png")
        let streams = try (0..<5).map {
            try SoundFileSource(path: path, sampleRate: 44_100, stream: $0).allFrames()
        }
        let power = { (samples: [Float]) in samples.reduce(0) { $0 + $1 * $1 } }
        let sum = streams[0].indices.map { i in streams[1...].reduce(0) { $0 + $1[i] } }
        // The mix went through a limiter that its parts did not.
        #expect(power(zip(streams[0], sum).map { $0 - $1 }) < power(streams[0]) / 4)
    }

    private func files(in folder: String) throws -> [String] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder)
        return names.filter { $0.contains("/data/") && !$0.hasSuffix("/") }.sorted().map { "\(folder)/\($0)" }
    }

    /// Reads a little at the start, in the middle and at the end; a break is told with the file's name.
    private func readAround(_ source: SoundFileSource, _ path: String) throws {
        for frame in [0, source.frameCount / 2, max(0, source.frameCount - 1_000)] {
            do { _ = try source.frames(from: frame, count: 1_000) } catch {
                #expect("\(error)".contains(path), "\(error)")
            }
        }
    }
}
