import Glibc

/// A playback device of a sound card, as ALSA's files in /proc tell it.
public struct SoundCard: Equatable, Sendable {
    /// The card's number: the N of /proc/asound/cardN.
    public let number: Int
    /// The card's own short name, which stays when numbers change: "PCH".
    public let id: String
    /// What a person calls it: "HDA Intel PCH, ALC892 Analog".
    public let name: String
    /// The playback device's number on the card.
    public let device: Int

    /// A device that is known to be there.
    public init(number: Int, id: String, name: String, device: Int) {
        self.number = number
        self.id = id
        self.name = name
        self.device = device
    }

    /// What ALSA opens: "hw:PCH,0".
    public var alsaName: String { "hw:\(id),\(device)" }

    /// The playback devices that there are, in ALSA's order, those of a video link (HDMI, DisplayPort) last: where
    /// nobody chose, sound belongs to a loudspeaker.
    ///
    /// - Parameter root: where /proc is; another folder in tests.
    public static func all(root: String = "/") -> [SoundCard] {
        let cards = parseCards(readFile("\(root)/proc/asound/cards") ?? "")
        let devices = lines(readFile("\(root)/proc/asound/pcm") ?? "").compactMap { line -> SoundCard? in
            // 00-03: HDMI 0 : HDMI 0 : playback 1
            let fields = line.split(separator: ":").map { trimmed($0) }
            guard fields.count >= 3, fields.dropFirst(3).contains(where: { $0.hasPrefix("playback") }) else {
                return nil
            }
            let numbers = fields[0].split(separator: "-").compactMap { Int($0) }
            guard numbers.count == 2, let card = cards.first(where: { $0.number == numbers[0] }) else {
                return nil
            }
            return SoundCard(
                number: card.number, id: card.id, name: "\(card.name), \(fields[1])", device: numbers[1])
        }
        return devices.filter { !$0.isVideoLink } + devices.filter(\.isVideoLink)
    }

    /// The program that plays through this device now; nil if it is free.
    public func holder(root: String = "/") -> String? {
        let status = readFile("\(root)/proc/asound/card\(number)/pcm\(device)p/sub0/status") ?? ""
        guard let line = lines(status).first(where: { $0.hasPrefix("owner_pid") }),
            let process = line.split(separator: ":").last.flatMap({ Int(trimmed($0)) })
        else { return nil }
        let program = readFile("\(root)/proc/\(process)/comm").map { trimmed($0) } ?? "a program"
        return "\(program) (process \(process))"
    }

    private var isVideoLink: Bool { name.contains("HDMI") || name.contains("DisplayPort") }

    /// Numbers, ids and names of /proc/asound/cards: ` 0 [PCH            ]: HDA-Intel - HDA Intel PCH`.
    private static func parseCards(_ text: String) -> [(number: Int, id: String, name: String)] {
        lines(text).compactMap { line in
            guard let open = line.firstIndex(of: "["), let close = line.firstIndex(of: "]"), open < close,
                let number = Int(trimmed(line[..<open]))
            else { return nil }
            let rest = line[close...].dropFirst(2)
            let dash = rest.firstRange(of: " - ")
            let name = dash.map { rest[$0.upperBound...] } ?? rest
            return (number, trimmed(line[line.index(after: open)..<close]), trimmed(name))
        }
    }
}

/// The lines of a text that are not empty.
private func lines(_ text: String) -> [Substring] { text.split(separator: "\n") }

/// A text without the blanks around it.
private func trimmed(_ text: some StringProtocol) -> String {
    let blanks: Set<Character> = [" ", "\t", "\n"]
    let head = text.drop { blanks.contains($0) }
    return String(head.reversed().drop { blanks.contains($0) }.reversed())
}

/// All of a small text file; nil if it cannot be read.
func readFile(_ path: String) -> String? {
    guard let file = unsafe fopen(path, "r") else { return nil }
    defer { unsafe fclose(file) }
    var bytes: [UInt8] = []
    while case let byte = unsafe fgetc(file), byte != EOF { bytes.append(UInt8(byte)) }
    return String(decoding: bytes, as: UTF8.self)
}
