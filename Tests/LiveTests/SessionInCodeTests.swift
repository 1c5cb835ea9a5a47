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
}
