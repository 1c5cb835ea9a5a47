import AudioFiles
import LiveSupport
import Session
import TestSupport

/// A session in which most of what a session can say is heard, and what `backline render` makes of it.
final class SessionFixture {
    let studio: Studio
    let session: String
    /// The outputs of `play`, and for each what `render` makes of it.
    let outputs: [String]
    private(set) var expected: [[Float]] = []

    /// Files of 24 bits, of floats and FLAC, one of another rate, mono and stereo, panned, inverted, looped, cut into
    /// clips with fades; a bus that feeds another and one of its own.
    init(seconds: Int = 3) async throws {
        studio = try Studio()
        outputs = ["main.1", "main.2", "room.1", "room.2", "click.1"]
        let frames = Int64(48_000 * seconds)
        try studio.write(.noise(seed: 1, peak: 0.3, frames: frames), to: "drums.wav")
        try studio.write(.noise(seed: 2, peak: 0.3, channels: 1, frames: frames - 12_345), to: "bass.flac")
        try studio.write(
            .sine(hertz: 997, peak: 0.4, sampleRate: 44_100, frames: 44_100 * Int64(seconds - 1)),
            to: "guitar.wav", samples: .int16, sampleRate: 44_100)
        try studio.write(.noise(seed: 3, peak: 0.2, frames: 9_999), to: "loop.wav", samples: .float32)
        try studio.write(.noise(seed: 4, peak: 0.4, channels: 1, frames: 48_000), to: "take.flac")
        try studio.write(.ramp(channels: 1, frames: frames), to: "click.wav", samples: .float32)
        session = try studio.writeSession(
            """
            {
              "format": "backline-session/1", "sampleRate": 48000,
              "tracks": [
                { "id": "drums", "file": "drums.wav", "gainDb": -2.5, "pan": 0.25 },
                { "id": "bass", "file": "bass.flac", "start": {"frames": 345}, "pan": -0.6, "volume": 0.8 },
                { "id": "guitar", "file": "guitar.wav", "start": 0.25, "invert": true, "output": "room" },
                { "id": "loop", "file": "loop.wav", "loops": 7, "start": {"frames": 12345}, "output": "room" },
                { "id": "takes", "pan": 0.9, "clips": [
                  { "file": "take.flac", "start": 0.5, "offset": 0.1, "length": 0.7, "gain": 0.9,
                    "fadeIn": 0.05, "fadeOut": 0.1 },
                  { "file": "take.flac", "start": 1.1, "length": 0.4, "fadeIn": 0.1 }
                ] },
                { "id": "silenced", "file": "drums.wav", "mute": true },
                { "id": "pulse", "file": "click.wav", "output": "click", "volume": 0.5 }
              ],
              "buses": [
                { "id": "room", "channels": 2, "output": "main", "volume": 0.7 },
                { "id": "main", "channels": 2 },
                { "id": "click", "channels": 1 }
              ]
            }
            """)
        expected += try await studio.render(session)
        expected += try await studio.render(session, bus: "room")
        expected += try await studio.render(session, bus: "click")
    }
    /// Stems at a session's rate, all in one mode: stereo and mono, of another sample rate, looped, cut into clips with
    /// fades, one at a rate of its own and, unless the mode is `tape`, one at another pitch.
    init(rate: Double, mode: RateMode, sampleRate: Int) async throws {
        studio = try Studio()
        outputs = ["main.1", "main.2", "room.1", "room.2"]
        try studio.write(.noise(seed: 1, peak: 0.3, frames: 120_000), to: "drums.wav")
        try studio.write(
            .sine(hertz: 997, peak: 0.4, sampleRate: 44_100, channels: 1, frames: 88_200), to: "bass.wav",
            sampleRate: 44_100)
        try studio.write(.noise(seed: 3, peak: 0.2, frames: 9_999), to: "loop.wav", samples: .float32)
        try studio.write(.noise(seed: 4, peak: 0.4, channels: 1, frames: 48_000), to: "take.flac")
        let pitch = mode == .tape ? 0 : -3.5
        session = try studio.writeSession(
            """
            {
              "format": "backline-session/1", "sampleRate": \(sampleRate), "rate": \(rate),
              "tracks": [
                { "id": "drums", "file": "drums.wav", "rateMode": "\(mode.rawValue)", "gainDb": -2.5 },
                { "id": "bass", "file": "bass.wav", "rateMode": "\(mode.rawValue)", "start": 0.2,
                  "pitch": \(pitch), "pan": -0.6 },
                { "id": "loop", "file": "loop.wav", "rateMode": "\(mode.rawValue)", "loops": 7, "rate": 1.1,
                  "start": 0.25, "output": "room" },
                { "id": "takes", "rateMode": "\(mode.rawValue)", "output": "room", "clips": [
                  { "file": "take.flac", "start": 0.5, "offset": 0.1, "length": 0.7, "fadeIn": 0.05,
                    "fadeOut": 0.1 },
                  { "file": "take.flac", "start": 1.1, "length": 0.4, "fadeIn": 0.1 }
                ] }
              ],
              "buses": [ { "id": "room", "channels": 2 }, { "id": "main", "channels": 2 } ]
            }
            """)
        expected += try await studio.render(session, sampleRate: sampleRate)
        expected += try await studio.render(session, bus: "room", sampleRate: sampleRate)
    }
}
