import CJack
import Synchronization

/// What libjack would print on standard error: kept, so that an error can say why, and off the user's screen.
enum JackLog {
    private static let limit = 20
    private static let lines = Mutex<[String]>([])

    /// Takes libjack's messages from now on; libjack itself keeps one handler a process.
    static let capture: Void = {
        unsafe jack_set_error_function(keepJackMessage)
        unsafe jack_set_info_function(dropJackMessage)
    }()

    /// Forgets what was said, before an attempt whose failure is to be explained.
    static func clear() {
        _ = capture
        lines.withLock { $0.removeAll() }
    }

    /// The last thing that libjack complained about, or `otherwise`.
    static func lastComplaint(otherwise: String) -> String {
        lines.withLock { $0.last } ?? otherwise
    }

    fileprivate static func keep(_ line: String) {
        lines.withLock { lines in
            if lines.count == limit { lines.removeFirst() }
            lines.append(line)
        }
    }
}

@c private func keepJackMessage(_ message: UnsafePointer<CChar>?) {
    guard let message = unsafe message else { return }
    JackLog.keep(unsafe String(cString: message))
}

@c private func dropJackMessage(_ message: UnsafePointer<CChar>?) {}
