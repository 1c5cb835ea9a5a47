/// Gathers the faults of one file, told by their offsets, and knows which lines those are on.
final class FaultLog {
    private let file: String
    private let lineStarts: [Int]
    private var entries: [(offset: Int, message: String)] = []

    init(file: String, bytes: [UInt8]) {
        self.file = file
        let lineFeed = UInt8(ascii: "\n")
        let feeds = bytes.indices.lazy.filter { bytes[$0] == lineFeed }
        lineStarts = [JSONParser.textStart(of: bytes)] + feeds.map { $0 + 1 }
    }

    /// The faults so far, in the order of their places.
    var faults: [Fault] {
        // An offset's entries stay in the order in which they were reported.
        entries.enumerated().sorted { ($0.element.offset, $0.offset) < ($1.element.offset, $1.offset) }.map {
            let line = line(of: $0.element.offset)
            let column = $0.element.offset - lineStarts[line - 1] + 1
            return Fault(file: file, line: line, column: column, message: $0.element.message)
        }
    }

    func report(_ message: String, at offset: Int) {
        entries.append((offset, message))
    }

    /// The line, from 1, that `offset` is on.
    func line(of offset: Int) -> Int {
        var low = 0
        var high = lineStarts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if lineStarts[middle] <= offset { low = middle } else { high = middle }
        }
        return low + 1
    }
}
