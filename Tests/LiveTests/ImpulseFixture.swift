import AudioFiles
import Backline
import Foundation
import LiveSupport
import TestSupport

/// 32 tracks that each play impulses of 1/32, all at the same places, into one mono bus: played together they are
/// impulses of exactly 1.
final class ImpulseFixture {
    let studio: Studio
    let session: String
    var document: SessionDocument { get throws { try SessionDocument(reading: session) } }

    static let players = 32

    /// One impulse at frame `place`, in stems of `frames` frames; or, with `every`, one every so many frames from there
    /// on, and without an end.
    ///
    /// - Parameter late: frames by which the last track comes late: what the tests must not let pass.
    init(at place: Int64 = 0, every: Int64? = nil, frames: Int64, late: Int64 = 0) throws {
        studio = try Studio()
        let source = SignalSource(channels: 1, frames: frames) { frame, _ in
            let isImpulse = every.map { (frame - place) % $0 == 0 } ?? (frame == place)
            return isImpulse ? 1 / Float(Self.players) : 0
        }
        let names = ["a.wav", "b.flac", "c.wav", "d.w64"]
        for (i, name) in names.enumerated() {
            try studio.write(source, to: name, samples: i == 2 ? .float32 : .int24)
        }
        let tracks = (0..<Self.players).map { i in
            """
            { "id": "player \(i)", "file": "\(names[i % 4])", "loops": \(every == nil ? 0 : -1), \
            "start": {"frames": \(i + 1 == Self.players ? late : 0)} }
            """
        }
        session = try studio.writeSession(
            """
            { "format": "backline-session/1", "sampleRate": 48000,
              "tracks": [ \(tracks.joined(separator: ",\n    ")) ],
              "buses": [ { "id": "main", "channels": 1 } ] }
            """)
    }
}

/// What is not silence in a capture.
struct Impulses {
    /// Where they are and how high, in order.
    let all: [(sample: Int, height: Float)]

    init(_ samples: [Float]) {
        var found: [(sample: Int, height: Float)] = []
        unsafe samples.withUnsafeBufferPointer { buffer in
            for i in 0..<buffer.count where unsafe buffer[i] != 0 { unsafe found.append((i, buffer[i])) }
        }
        all = found
    }

    /// Impulses that are not all 32 players together.
    var partial: [(sample: Int, height: Float)] { all.filter { $0.height != 1 } }
    /// Frames from each to the next.
    var distances: [Int] { zip(all, all.dropFirst()).map { $1.sample - $0.sample } }
}
