import CRealtime
import Glibc

/// How large the terminal is.
struct TerminalSize {
    var columns: Int
    var rows: Int

    /// The size of standard output's terminal; 80 × 24 where there is none.
    static var current: TerminalSize {
        var size = winsize()
        guard unsafe terminal_size(1, &size) == 0, size.ws_col > 0 else {
            return TerminalSize(columns: 80, rows: 24)
        }
        return TerminalSize(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }
}

/// A terminal that gives single keys, without showing them, until it is restored.
final class KeyInput {
    private var before = termios()
    private let isTerminal: Bool
    private var isRaw = false
    private var parser = KeyParser()

    init() {
        isTerminal = isatty(0) == 1 && (unsafe tcgetattr(0, &before)) == 0
        takeTerminal()
    }

    /// Asks for single keys. A shell that stopped this program and lets it go on has changed that back; and a program
    /// in the background that touches its terminal is stopped by the kernel.
    private func takeTerminal() {
        guard isTerminal, Output.isForeground(0) else { return }
        var now = termios()
        guard unsafe tcgetattr(0, &now) == 0, now.c_lflag & tcflag_t(ICANON | ECHO) != 0 else { return }
        now.c_lflag &= ~tcflag_t(ICANON | ECHO)
        unsafe tcsetattr(0, TCSANOW, &now)
        isRaw = true
    }

    deinit { restore() }

    /// Gives the terminal back as it was.
    func restore() {
        guard isRaw, Output.isForeground(0) else { return }
        unsafe tcsetattr(0, TCSANOW, &before)
        isRaw = false
    }

    /// The keys that were pressed since the last call.
    func read() -> [Key] {
        guard isTerminal, Output.isForeground(0) else { return [] }
        takeTerminal()
        var bytes = [UInt8]()
        var buffer = [UInt8](repeating: 0, count: 64)
        var poller = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
        while unsafe poll(&poller, 1, 0) > 0 {
            let count = unsafe Glibc.read(0, &buffer, buffer.count)
            if count <= 0 { break }
            bytes += buffer[..<count]
        }
        return parser.keys(in: bytes)
    }
}

/// A key of `play`.
enum Key: Equatable {
    case space
    case left
    case right
    case digit(Int)
    case letter(Character)
}

/// Turns what a terminal sends into keys.
struct KeyParser {
    /// The beginning of a sequence whose end has not come yet.
    private var pending: [UInt8] = []

    /// The keys in what a terminal sent next.
    mutating func keys(in bytes: [UInt8]) -> [Key] {
        var keys: [Key] = []
        let all = pending + bytes
        var rest = all[...]
        pending = []
        while let byte = rest.popFirst() {
            switch byte {
            case 0x1B:
                // An arrow is ESC [ or ESC O and a letter; ESC [ sequences end with a byte from 0x40 on.
                let start = rest.startIndex - 1
                guard
                    rest.dropFirst().contains(where: { $0 >= 0x40 })
                        || rest.first.map({ $0 != UInt8(ascii: "[") && $0 != UInt8(ascii: "O") }) ?? false
                else {
                    pending = Array(all[start...])
                    return keys
                }
                guard let bracket = rest.first, bracket == UInt8(ascii: "[") || bracket == UInt8(ascii: "O")
                else {
                    continue
                }
                rest.removeFirst()
                while let final = rest.popFirst() {
                    if final == UInt8(ascii: "C") { keys.append(.right) }
                    if final == UInt8(ascii: "D") { keys.append(.left) }
                    if final >= 0x40 { break }
                }
            case UInt8(ascii: " "): keys.append(.space)
            case UInt8(ascii: "0")...UInt8(ascii: "9"): keys.append(.digit(Int(byte - 48)))
            case 0x21...0x7E: keys.append(.letter(Character(Character(UnicodeScalar(byte)).lowercased())))
            default: break
            }
        }
        return keys
    }
}
