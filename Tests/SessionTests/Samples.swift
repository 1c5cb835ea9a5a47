/// Session files that several tests read.
enum Samples {
    /// A file with every key that this build takes.
    static let full = """
        {
          "format": "backline-session/1",
          "name": "Demo", "sampleRate": 48000, "rate": 1.25, "needs": ["clips", "solo", "rates"],
          "tracks": [
            { "id": "guitar", "name": "Guitar", "file": "guitar.flac", "start": { "frames": 480 }, "loops": 2,
              "volume": 0.8, "pan": -0.3, "rate": 0.75, "rateMode": "fast", "pitch": -0.5,
              "mute": true, "solo": true, "invert": true,
              "output": "band", "sends": [], "inserts": [], "x-colour": "#f80" },
            { "id": "takes", "rate": 2, "rateMode": "tape", "pitch": 0,
              "clips": [
                { "file": "take1.wav", "start": 12.5, "offset": 1, "length": 8.0, "gain": 0.5,
                  "fadeIn": 0.01, "fadeOut": { "frames": 100 }, "loops": -1, "x-take": null },
                { "file": "take2.wav" }
              ] },
            { "name": "Bass", "file": "bass \\u266d\\ud834\\udd1e.wav", "pitch": 7, "direct": false },
            { "file": "stems/drums.wav", "rate": 1.0, "rateMode": "fine", "pitch": 0.0 }
          ],
          "inputs": [], "transport": "ignore", "resume": false,
          "buses": [
            { "id": "band", "name": "The band", "output": "main", "gainDb": 20, "soloSafe": true },
            { "id": "main", "channels": 3, "pan": 0.25, "mute": true, "solo": true,
              "connect": [["system:playback_1", "rec:in_1"], ["system:playback_2"], []] }
          ],
          "x-studio": { "room": 2, "hot": true }
        }

        """
}
