import Backline
import Foundation
import Session
import Testing

@Suite struct `Sessions made in code` {
    @Test func `Buses that feed each other in a circle are refused, not trapped`() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let stem = folder.appendingPathComponent("../../Sessions/demo/bass.flac").path
        let document = SessionDocument(
            Session(
                name: "circle", tracks: [Track(id: "a", clips: [Clip(file: stem)], output: "one")],
                buses: [Bus(id: "one", output: "two"), Bus(id: "two", output: "one")]))
        var options = Mixdown.Options()
        options.bus = "one"
        let error = #expect(throws: BacklineError.self) {
            try Mixdown.render(document, to: "/nonexistent/circle.wav", options: options) { _ in true }
        }
        #expect("\(error!)".contains("circle"))
    }

    @Test(arguments: [(tracks: 4_097, word: "tracks"), (tracks: 1, word: "buses")])
    func `A session with more than the engine holds is refused before a file is opened`(
        tracks: Int, word: String
    )
        throws
    {
        let stems = (0..<tracks).map { Track(id: "t\($0)", clips: [Clip(file: "/nonexistent/\($0).wav")]) }
        let buses = (0..<(tracks == 1 ? 257 : 1)).map { Bus(id: $0 == 0 ? "main" : "b\($0)") }
        let document = SessionDocument(Session(name: "big", tracks: stems, buses: buses))
        let error = #expect(throws: BacklineError.self) {
            try Mixdown.render(document, to: "/nonexistent/big.wav", options: Mixdown.Options()) { _ in true }
        }
        #expect("\(error!)".contains("at most") && "\(error!)".contains(word), "\(error!)")
    }
}
