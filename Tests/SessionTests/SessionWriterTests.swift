import Session
import Testing

struct SessionWriterTests {
    @Test(arguments: [
        Samples.full,
        #"{ "format": "backline-session/1" }"#,
        #"{ "format": "backline-session/1", "tracks": [{ "file": "a.wav" }, { "id": "b", "clips": [] }] }"#,
        #"{ "format": "backline-session/1", "buses": [{ "id": "main" }] }"#,
        #"{ "format": "backline-session/1", "x-a": [[], {}, -0.0, 1e300, 7, "\u0000\"\\\n\u2028", null] }"#,
        #"{ "format": "backline-session/1", "tracks": [{ "file": "a", "gainDb": -3, "start": 1e-7 }] }"#,
        #"{ "format": "backline-session/1", "rate": 0.5, "tracks": [{ "file": "a", "rateMode": "tape" }] }"#,
    ])
    func `what is written reads as the same session`(text: String) throws {
        let session = try read(text)
        #expect(try read(session.json) == session)
        #expect(try read(session.json).json == session.json)
    }

    @Test func `a session of files reads as itself`() throws {
        let session = Session(files: [
            "stems/guitar \"1\".flac", "bass.wav", "b/bass.wav", "c:d.wav", "main.wav",
        ])
        #expect(try read(session.json) == session)
    }

    @Test func `keys have one order and small things one line`() throws {
        #expect(
            try read(Samples.full).json == #"""
                {
                  "format": "backline-session/1",
                  "name": "Demo",
                  "sampleRate": 48000,
                  "rate": 1.25,
                  "needs": ["clips", "solo", "rates"],
                  "tracks": [
                    {
                      "id": "guitar",
                      "name": "Guitar",
                      "file": "guitar.flac",
                      "start": { "frames": 480 },
                      "loops": 2,
                      "rate": 0.75,
                      "rateMode": "fast",
                      "pitch": -0.5,
                      "volume": 0.8,
                      "pan": -0.3,
                      "mute": true,
                      "solo": true,
                      "invert": true,
                      "output": "band",
                      "x-colour": "#f80"
                    },
                    {
                      "id": "takes",
                      "clips": [
                        {
                          "file": "take1.wav",
                          "start": 12.5,
                          "offset": 1.0,
                          "length": 8.0,
                          "gain": 0.5,
                          "fadeIn": 0.01,
                          "fadeOut": { "frames": 100 },
                          "loops": -1,
                          "x-take": null
                        },
                        { "file": "take2.wav" }
                      ],
                      "rate": 2.0,
                      "rateMode": "tape"
                    },
                    { "id": "Bass", "file": "bass ♭𝄞.wav", "pitch": 7.0 },
                    { "id": "drums", "file": "stems/drums.wav" }
                  ],
                  "buses": [
                    {
                      "id": "band",
                      "name": "The band",
                      "channels": 2,
                      "output": "main",
                      "volume": 10.0,
                      "soloSafe": true
                    },
                    {
                      "id": "main",
                      "channels": 3,
                      "connect": [["system:playback_1", "rec:in_1"], ["system:playback_2"], []],
                      "pan": 0.25,
                      "mute": true,
                      "solo": true
                    }
                  ],
                  "x-studio": { "hot": true, "room": 2 }
                }

                """#)
    }
}
