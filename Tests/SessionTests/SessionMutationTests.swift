import Session
import Testing

/// Damage to session files: whatever a file holds, it is a session or its faults, and never the end of the program.
struct SessionMutationTests {
    @Test func `10,000 damaged files are each a session or faults that name the file`() {
        var mutator = Mutator(seed: 20_260_214)
        let original = Array(Samples.full.utf8)
        var sessions = 0
        for round in 0..<10_000 {
            // Every other round damages the beginning, where a format is told.
            let damaged = mutator.damage(original, within: round.isMultiple(of: 2) ? 256 : original.count)
            do {
                let session = try SessionReader.read(damaged, file: "damaged.json")
                sessions += 1
                #expect((try? read(session.json)) == session)
            } catch {
                #expect(!error.faults.isEmpty)
                #expect(error.faults.allSatisfy { $0.description.hasPrefix("damaged.json:\($0.line): ") })
                #expect(error.faults.allSatisfy { $0.line >= 1 && $0.column >= 1 && !$0.message.isEmpty })
                #expect(error.faults.map(\.line) == error.faults.map(\.line).sorted())
            }
        }
        // Some damage does no harm (a letter in a name), most does; neither may be all there is to this test.
        #expect((100...9_000).contains(sessions), "\(sessions) of 10,000 were read")
    }

    @Test func `every truncation is refused`() {
        let original = Array(Samples.full.utf8)
        // Behind the last brace is a line feed, which nothing needs.
        for length in 0..<original.count - 1
        where original[length...] != [UInt8(ascii: "\n"), UInt8(ascii: "\n")] {
            #expect(throws: SessionFaults.self) { try SessionReader.read(original[..<length], file: "a") }
        }
    }

    @Test func `damage that is known to matter is refused, and none is not`() throws {
        #expect(throws: Never.self) { try read(Samples.full) }
        let harmful = [
            (":", ";"), ("}", "]"), ("\"tracks\"", "\"trakcs\""), ("0.8", "800"), ("backline", "backlime"),
        ]
        for (old, new) in harmful {
            let range = try #require(Samples.full.firstRange(of: old))
            #expect(throws: SessionFaults.self) {
                try read(Samples.full.replacingCharacters(in: range, with: new))
            }
        }
    }
}

extension String {
    fileprivate func replacingCharacters(in range: Range<Index>, with other: String) -> String {
        self[..<range.lowerBound] + other + self[range.upperBound...]
    }
}
