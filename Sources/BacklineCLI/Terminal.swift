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
    private let isActive: Bool

    init() {
        isActive = isatty(0) == 1 && (unsafe tcgetattr(0, &before)) == 0
        guard isActive else { return }
        var raw = before
        raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
        unsafe tcsetattr(0, TCSANOW, &raw)
    }

    deinit { restore() }

    /// Gives the terminal back as it was.
    func restore() {
        if isActive { unsafe tcsetattr(0, TCSANOW, &before) }
    }

    /// The keys that were pressed since the last call.
    func read() -> [Key] {
        guard isActive else { return [] }
        var bytes = [UInt8]()
        var buffer = [UInt8](repeating: 0, count: 64)
        var poller = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
        while unsafe poll(&poller, 1, 0) > 0 {
            let count = unsafe Glibc.read(0, &buffer, buffer.count)
            if count <= 0 { break }
            bytes += buffer[..<count]
        }
        return Key.parse(bytes)
    }
}

/// A key of `play`.
enum Key: Equatable {
    case space
    case left
    case right
    case digit(Int)
    case letter(Character)

    /// The keys in what a terminal sent.
    static func parse(_ bytes: [UInt8]) -> [Key] {
        var keys: [Key] = []
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            switch byte {
            case 0x1B:
                // An arrow is ESC [ or ESC O and a letter; ESC [ sequences end with a byte from 0x40 on.
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
            case 0x21...0x7E: keys.append(.letter(Character(UnicodeScalar(byte))))
            default: break
            }
        }
        return keys
    }
}
