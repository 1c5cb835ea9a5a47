import Foundation

/// A bar on a terminal that fills up.
struct ProgressBar {
    let isShown: Bool
    private let began = Date()

    init(isShown: Bool) {
        self.isShown = isShown
    }

    /// Shows that `part`, 0 to 1, is done.
    func show(_ part: Double) {
        guard isShown else { return }
        let width = max(10, min(50, TerminalSize.current.columns - 24))
        let full = Int(part * Double(width))
        let bar = String(repeating: "█", count: full) + String(repeating: "░", count: width - full)
        let elapsed = Date().timeIntervalSince(began)
        let left = part > 0.02 ? " \(Output.time(elapsed / part * (1 - part))) left" : ""
        Output.write("\r\(bar) \(Int(part * 100)) %\(left)\u{1B}[K", to: 1)
    }

    /// Takes the bar away.
    func clear() {
        if isShown { Output.write("\r\u{1B}[K", to: 1) }
    }
}
