import Foundation
import TestSupport
import Testing

/// Damaged sessions and stems through the program itself: it ends by itself, in time, and names what is wrong; and
/// what is not damaged sounds as if nothing had been.
@Suite(.serialized) struct DamageTests {
    let bench: Bench

    init() throws { bench = try Bench() }

    private func render(_ name: String, _ output: String, what: String) async throws -> Program.Ending {
        let ending = try await Program.run(
            "render", name, "-o", output, "--seconds", "1", "--bits", "32f", "--force", "--json", in: bench,
            within: .seconds(5))
        #expect(ending.signal == nil && [0, 1, 3].contains(ending.status), "\(what): \(ending)")
        return ending
    }

    private struct Mutator {
        var generator: SplitMix

        /// Cuts `bytes` off, or changes up to eight of them; half of the places lie in the first 256.
        mutating func damage(_ bytes: Data) -> Data {
            var bytes = [UInt8](bytes)
            let reach = Bool.random(using: &generator) ? min(256, bytes.count) : bytes.count
            if Int.random(in: 0..<4, using: &generator) == 0 {
                return Data(bytes.prefix(Int.random(in: 0..<reach, using: &generator)))
            }
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                let place = Int.random(in: 0..<reach, using: &generator)
                bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            }
            return Data(bytes)
        }
    }

    /// Damage that JSON may survive: other digits.
    private func misplaceDigits(_ bytes: Data, using generator: inout SplitMix) -> Data {
        var bytes = bytes
        let digits = bytes.indices.filter { (48...57).contains(bytes[$0]) }
        for _ in 0..<Int.random(in: 1...2, using: &generator) {
            guard let place = digits.randomElement(using: &generator) else { break }
            bytes[place] = UInt8.random(in: 48...57, using: &generator)
        }
        return bytes
    }

    @Test func `250 damaged sessions end in a mix or in an error that names the file`() async throws {
        try await bench.tone("a.wav", seconds: 0.3, rate: 8_000)
        try await bench.tone("b.flac", hertz: 300, seconds: 0.2, channels: 1, rate: 8_000)
        try bench.session(
            "whole.json", rate: 8_000,
            tracks: [
                #"{"id": "a", "file": "a.wav", "volume": 0.8, "pan": -0.3, "loops": 1, "output": "room"}"#,
                #"{"id": "b", "clips": [{"file": "b.flac", "start": 0.1, "offset": 0.05, "fadeIn": 0.01}], "mute": false}"#,
            ],
            buses: [#"{"id": "room", "channels": 2, "output": "main"}"#, #"{"id": "main", "channels": 2}"#])
        let whole = try bench.bytes("whole.json")
        #expect(try await render("whole.json", "whole.wav", what: "the whole").status == 0)
        var mutator = Mutator(generator: SplitMix(seed: 7))
        var statuses: [Int32: Int] = [:]
        for i in 0..<250 {
            let damaged =
                i.isMultiple(of: 4)
                ? misplaceDigits(whole, using: &mutator.generator) : mutator.damage(whole)
            try bench.write(damaged, to: "damaged.json")
            let what = "session \(i): \(String(decoding: damaged, as: UTF8.self))"
            let ending = try await render("damaged.json", "mix.wav", what: what)
            statuses[ending.status, default: 0] += 1
            if ending.status == 1 {
                #expect(ending.errors.contains("damaged.json"), "\(what): \(ending.errors)")
            }
            if ending.status == 3 {
                #expect(ending.errors.contains("backline: track "), "\(what): \(ending.errors)")
            }
        }
        #expect(statuses[1] ?? 0 > 50 && statuses[0] ?? 0 > 5, "both happen: \(statuses)")
    }

    @Test func `250 damaged stems leave the other tracks as they are, to the bit`() async throws {
        try await bench.tone("a.wav", seconds: 0.3, rate: 8_000)
        try await bench.tone("b.flac", hertz: 300, seconds: 0.4, channels: 1, rate: 8_000)
        let stems = ["s.wav", "s.flac", "s.aiff", "s.w64", "s.caf", "s.ogg", "f.wav"]
        var noise = SplitMix(seed: 8)
        try bench.wav(
            "f.wav", (0..<2 * 2_400).map { _ in Float.random(in: -0.5...0.5, using: &noise) }, rate: 8_000)
        for name in stems where name != "f.wav" {
            try await bench.tone(name, hertz: 200, seconds: 0.3, bits: 16, rate: 8_000)
        }
        let others = [#"{"file": "a.wav"}"#, #"{"file": "b.flac", "pan": 0.2}"#]
        let buses = [#"{"id": "main"}"#, #"{"id": "side"}"#]
        try bench.session("others.json", rate: 8_000, tracks: others, buses: buses)
        #expect(try await render("others.json", "others.wav", what: "the others").status == 0)
        let reference = try bench.bytes("others.wav")
        let wholes = try stems.map { try bench.bytes($0) }

        var mutator = Mutator(generator: SplitMix(seed: 9))
        var statuses: [Int32: Int] = [:]
        for i in 0..<250 {
            let name = "damaged\(stems[i % stems.count])"
            try bench.write(mutator.damage(wholes[i % stems.count]), to: name)
            // Muted, or sounding into another bus: either way it is read, and not heard.
            let kept = i.isMultiple(of: 2) ? #""mute": true"# : #""output": "side""#
            try bench.session(
                rate: 8_000, tracks: [others[0], #"{"id": "bad", "file": "\#(name)", \#(kept)}"#, others[1]],
                buses: buses)
            let what = "stem \(i), \(name)"
            let ending = try await render("session.backline.json", "mix.wav", what: what)
            statuses[ending.status, default: 0] += 1
            #expect(ending.status != 1, "\(what): \(ending.errors)")
            if ending.status == 3 {
                #expect(ending.errors.contains(#"track "bad": "#) && ending.errors.contains(name), "\(what)")
            }
            #expect(try bench.bytes("mix.wav") == reference, "\(what): the other tracks")
        }
        #expect(statuses[3] ?? 0 > 50 && statuses[0] ?? 0 > 5, "both happen: \(statuses)")
    }
}
