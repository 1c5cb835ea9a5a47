import Session
import Testing

/// `rate`, `rateMode` and `pitch`: what is read, refused and written.
struct RateTests {
    @Test func `rates go from a half to two`() throws {
        for rate in [0.5, 0.8, 1, 1.25, 2] {
            #expect(try session(#""rate": \#(rate)"#) == Session(name: "demo", rate: rate))
            let clips = [Clip(file: "a.wav")]
            #expect(try track(#""rate": \#(rate)"#) == Track(id: "a", clips: clips, rate: rate))
        }
        #expect(try session(#""rate": 2, "tracks": [{ "file": "a" }]"#).tracks[0].rate == 1)
        #expect(try track(#""rate": 5e-1"#).rate == 0.5)
    }

    @Test func `pitches go an octave either way, in cents too`() throws {
        for pitch in [-12, -0.01, 0, 0.37, 7, 12] {
            for mode in [RateMode.fine, .fast] {
                let track = try track(#""pitch": \#(pitch), "rateMode": "\#(mode.rawValue)""#)
                #expect((track.pitch, track.rateMode, track.rate) == (pitch, mode, 1))
            }
        }
    }

    @Test func `a rate is fine unless a mode is named, and a tape has no pitch of its own`() throws {
        #expect(try track(#""rate": 2"#).rateMode == .fine)
        for mode in RateMode.allCases {
            let track = try track(#""rate": 0.5, "rateMode": "\#(mode.rawValue)", "pitch": 0"#)
            #expect((track.rate, track.rateMode, track.pitch) == (0.5, mode, 0))
        }
        #expect(RateMode.allCases.map(\.rawValue) == ["fine", "fast", "tape"])
        #expect(try track(#""rateMode": "tape", "pitch": -0.0"#).pitch == 0)
    }

    @Test(arguments: [
        (#""rate": 0.499"#, #""rate" in the session: expected 0.5 to 2, found 0.499"#),
        (#""rate": 2.001"#, #""rate" in the session: expected 0.5 to 2, found 2.001"#),
        (#""rate": -1"#, #""rate" in the session: expected 0.5 to 2, found -1"#),
        (#""rate": "fast""#, #""rate" in the session: expected a number, found a string"#),
        (#""rate": null"#, #""rate" in the session: expected a number, found null"#),
        (#""rate": NaN"#, #"expected a value, found "N""#),
        (#""rateMode": "tape""#, #"unknown key "rateMode" in the session"#),
        (#""pitch": 1"#, #"unknown key "pitch" in the session"#),
    ])
    func `what is wrong with a session's rate has its message`(fields: String, message: String) {
        #expect(messages(try session(fields)) == [message])
    }

    @Test(arguments: [
        (#""rate": 0.499"#, #""rate" in track "a": expected 0.5 to 2, found 0.499"#),
        (#""rate": 2.001"#, #""rate" in track "a": expected 0.5 to 2, found 2.001"#),
        (#""rate": 0"#, #""rate" in track "a": expected 0.5 to 2, found 0"#),
        (#""rate": 1e300"#, #""rate" in track "a": expected 0.5 to 2, found 1e+300"#),
        (#""rate": "0.8""#, #""rate" in track "a": expected a number, found a string"#),
        (#""rate": NaN"#, #"expected a value, found "N""#),
        (
            #""rateMode": "taep""#,
            #""rateMode" in track "a": expected one of "fine", "fast", "tape", found "taep"; did you mean "tape"?"#
        ),
        (
            #""rateMode": "Fine""#,
            #""rateMode" in track "a": expected one of "fine", "fast", "tape", found "Fine"; did you mean "fine"?"#
        ),
        (
            #""rateMode": "granular""#,
            #""rateMode" in track "a": expected one of "fine", "fast", "tape", found "granular""#
        ),
        (#""rateMode": 2"#, #""rateMode" in track "a": expected a string, found a number"#),
        (#""ratemode": "fine""#, #"unknown key "ratemode" in track "a"; did you mean "rateMode"?"#),
        (#""pitch": 12.01"#, #""pitch" in track "a": expected -12 to 12, found 12.01"#),
        (#""pitch": -12.01"#, #""pitch" in track "a": expected -12 to 12, found -12.01"#),
        (#""pitch": "up""#, #""pitch" in track "a": expected a number, found a string"#),
        (#""pitch": NaN"#, #"expected a value, found "N""#),
        (#""rateMode": "tape", "pitch": 2"#, tapePitch),
        (#""pitch": -0.01, "rate": 0.5, "rateMode": "tape""#, tapePitch),
        // One fault does not lead to another.
        (
            #""rateMode": "tape", "pitch": 13"#,
            #""pitch" in track "a": expected -12 to 12, found 13"#
        ),
    ])
    func `what is wrong with a track's rate, mode or pitch has its message`(fields: String, message: String) {
        #expect(messages(try track(fields)) == [message])
    }

    @Test func `a pitch beside a tape's rate is told on the pitch's line`() {
        let text = """
            { "format": "backline-session/1", "tracks": [
              { "file": "a.wav", "rateMode": "tape" },
              { "file": "b.wav",
                "pitch": 1.5,
                "rateMode": "tape" }] }
            """
        let faults = #expect(throws: SessionFaults.self) { try read(text) }
        let message = Self.tapePitch.replacing(#"track "a""#, with: "track 2")
        #expect(faults?.description == "demo.backline.json:4: \(message)")
    }

    private static let tapePitch =
        #""pitch" in track "a": follows the rate in mode "tape"; choose "fine" or "fast", or leave "pitch" out"#

    @Test func `1,000 rates, modes and pitches are read as they were, to the bit`() throws {
        var generator = SplitMix64(state: 20_261_018)
        for _ in 0..<1_000 {
            let mode = RateMode.allCases.randomElement(using: &generator) ?? .fine
            let session = Session(
                name: "rates", rate: .random(in: 0.5...2, using: &generator),
                tracks: [
                    Track(
                        id: "a", clips: [Clip(file: "a.wav", start: .seconds(1), offset: .frames(2))],
                        rate: .random(in: 0.5...2, using: &generator), rateMode: mode,
                        pitch: mode == .tape ? 0 : .random(in: -12...12, using: &generator))
                ])
            #expect(try read(session.json) == session)
        }
    }

    @Test func `a rate and a pitch that change nothing are left out`() throws {
        let usual = Session(name: "a", tracks: [Track(id: "b")])
        #expect(!usual.json.contains("rate") && !usual.json.contains("pitch"))
        var tape = usual
        tape.tracks[0].rateMode = .tape
        #expect(tape.json.contains(#"{ "id": "b", "clips": [], "rateMode": "tape" }"#))
        var all = usual
        all.rate = 0.5
        all.tracks[0].rate = 2
        all.tracks[0].rateMode = .fast
        all.tracks[0].pitch = -0.25
        let line = #"{ "id": "b", "clips": [], "rate": 2.0, "rateMode": "fast", "pitch": -0.25 }"#
        #expect(all.json.contains(#"  "rate": 0.5,"#) && all.json.contains(line))
    }

    @Test func `what is written of a rate or a pitch out of range is refused`() {
        for rate in [0.499, 2.001, 0, -1, .nan, .infinity] {
            #expect(throws: SessionFaults.self) { try read(Session(name: "a", rate: rate).json) }
            let track = Track(id: "a", rate: rate)
            #expect(throws: SessionFaults.self) { try read(Session(name: "a", tracks: [track]).json) }
        }
        let pitched = [(RateMode.fine, 12.01), (.fast, -12.01), (.fine, .nan), (.tape, 1)]
        for (mode, pitch) in pitched {
            let track = Track(id: "a", rateMode: mode, pitch: pitch)
            #expect(throws: SessionFaults.self) { try read(Session(name: "a", tracks: [track]).json) }
        }
    }
}
