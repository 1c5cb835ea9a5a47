import Foundation
import Glibc
import Synchronization

/// What the program says, to people and to programs.
enum Output {
    private static let failedWrite = Atomic<Int32>(0)

    /// Why something did not get onto standard output; nil while everything has.
    static var failure: String? {
        let code = failedWrite.load(ordering: .relaxed)
        return code == 0 ? nil : unsafe String(cString: strerror(code))
    }

    /// One line on standard output.
    static func line(_ text: String) {
        write(printable(text) + "\n", to: 1)
    }

    /// One line on standard error.
    static func error(_ text: String) {
        write(printable(text) + "\n", to: 2)
    }

    /// `text` without what would steer a terminal: names come from files that somebody else may have made.
    static func printable(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { isControl($0) ? "\u{FFFD}" : $0 }))
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .control && scalar != "\n" && scalar != "\t"
    }

    /// `text` from a file on one line: what does not print is replaced, what is long is cut.
    static func oneLine(_ text: String) -> String {
        let limit = 300
        var line = ""
        for scalar in text.unicodeScalars.prefix(limit) {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse:
                line.unicodeScalars.append(scalar == "\n" || scalar == "\t" ? " " : "\u{FFFD}")
            default: line.unicodeScalars.append(scalar)
            }
        }
        return text.unicodeScalars.dropFirst(limit).isEmpty ? line : line + "…"
    }

    /// Text on a file descriptor, as it is.
    static func write(_ text: String, to descriptor: Int32) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let written = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if written < 0 && errno == EINTR { continue }
            if written <= 0 {
                if descriptor == 1 { failedWrite.store(errno, ordering: .relaxed) }
                return
            }
            bytes = bytes.dropFirst(written)
        }
    }

    /// Whether standard output is a terminal.
    static var isTerminal: Bool { isatty(1) == 1 }

    /// Whether the terminal at `descriptor` listens to this program, rather than to a shell that runs it in the
    /// background.
    static func isForeground(_ descriptor: Int32) -> Bool {
        let group = tcgetpgrp(descriptor)
        return group < 0 || group == getpgrp()
    }

    /// One value as JSON on one line; what is not finite becomes null.
    static func json(_ value: some Encodable, pretty: Bool = false) {
        let encoder = JSONEncoder()
        encoder.outputFormatting =
            pretty
            ? [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes] : [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(value) else { return }
        line(String(decoding: data, as: UTF8.self))
    }

    /// A number for JSON: nil where it is not finite, rounded to a thousandth.
    static func number(_ value: Double) -> Double? {
        value.isFinite ? (value * 1000).rounded() / 1000 : nil
    }

    /// A number without digits that say nothing: `0.8`, `2`.
    static func plain(_ value: Double) -> String { String(format: "%g", value) }

    /// A time as `1:02.3` or `1:01:02.3`.
    static func time(_ seconds: Double) -> String {
        let tenths = Int((max(0, seconds) * 10).rounded(.down))
        let (minutes, rest) = (tenths / 600, tenths % 600)
        let tail = String(format: "%02d.%d", rest / 10, rest % 10)
        return minutes >= 60
            ? String(format: "%d:%02d:", minutes / 60, minutes % 60) + tail : "\(minutes):\(tail)"
    }

    /// Decibels as `−12.3 dB`.
    static func decibels(_ value: Double) -> String {
        value.isFinite ? String(format: "%.1f dB", value).replacingOccurrences(of: "-", with: "−") : "silent"
    }
}
