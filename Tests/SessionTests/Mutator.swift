/// Damages files, in the same ways whenever it starts from the same seed.
struct Mutator {
    private var generator: SplitMix64

    init(seed: UInt64) {
        generator = SplitMix64(state: seed)
    }

    /// `bytes` with one to four things done to their first `reach`.
    mutating func damage(_ bytes: [UInt8], within reach: Int) -> [UInt8] {
        var damaged = bytes
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
            strike(&damaged, at: Int.random(in: 0..<max(1, min(reach, damaged.count)), using: &generator))
        }
        return damaged
    }

    private mutating func strike(_ bytes: inout [UInt8], at place: Int) {
        guard place < bytes.count else { return }
        let end = min(bytes.count, place + Int.random(in: 1...32, using: &generator))
        switch Int.random(in: 0..<8, using: &generator) {
        case 0, 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 2: bytes[place] = .random(in: 0...255, using: &generator)
        case 3: bytes.insert("{}[]\",:\\-e0\n".utf8.randomElement(using: &generator) ?? 0, at: place)
        case 4: bytes.removeSubrange(place..<end)
        case 5:
            bytes.insert(contentsOf: bytes[place..<end], at: .random(in: 0...bytes.count, using: &generator))
        case 6:
            bytes.insert(contentsOf: Self.tokens.randomElement(using: &generator)?.utf8 ?? "".utf8, at: place)
        default: if Bool.random(using: &generator) { bytes.removeSubrange(place...) }
        }
    }

    private static let tokens = [
        "1e400", "-1", "99999999999999999999", #"\ud800"#, #""id":"#, #""frames":"#, "null", "[[[[[[[[",
        "{\"\":",
        "\u{FEFF}", "0.1e-5", #""clips":[{}],"#, #""output":"band","#, "true", "\u{0}",
    ]
}

/// A generator of numbers with 64 bits of state: Steele, Lea, Flood, "Fast splittable pseudorandom number
/// generators", 2014.
struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
