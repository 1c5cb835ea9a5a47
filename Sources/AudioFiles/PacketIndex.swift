/// Where the packets of a stream lie, in the file and among the frames that they decode to.
struct PacketIndex {
    /// A packet as the demuxer gives it, by which it is known again after a seek.
    struct Mark: Equatable {
        /// In units of the stream's clock; of no meaning where the container has none.
        var time: Int64
        /// In the file; −1 where the demuxer does not say.
        var place: Int64
        var size: Int32
    }

    private(set) var marks: [Mark] = []
    /// The frame at which each packet's frames begin, and behind the last the number of all frames.
    private(set) var starts: [Int64] = [0]
    private var timesGrow = true
    private var placesGrow = true

    /// More packets are no music, but a file made to eat memory.
    static let mostPackets = 8 << 20

    var count: Int { marks.count }
    /// Frames that all packets decode to.
    var frameCount: Int64 { starts[starts.count - 1] }

    /// Adds a packet, of so many frames.
    mutating func append(_ mark: Mark, frames: Int64) {
        if let last = marks.last {
            timesGrow = timesGrow && mark.time > last.time
            placesGrow = placesGrow && mark.place > last.place
        }
        marks.append(mark)
        starts.append(frameCount + max(0, frames))
    }

    /// Says anew how many frames each packet has.
    mutating func setFrames(_ counts: [Int64]) {
        starts = [0]
        for count in counts.prefix(marks.count) { starts.append(frameCount + count) }
        marks.removeLast(marks.count - (starts.count - 1))
    }

    /// Forgets all packets from `number` on.
    mutating func cut(at number: Int) {
        marks.removeLast(marks.count - number)
        starts.removeLast(starts.count - 1 - number)
    }

    /// The packet whose frames `frame` is among: the last one that begins at or before it.
    func packet(holding frame: Int64) -> Int {
        max(0, min(count - 1, Self.firstIndex(in: 0..<starts.count) { starts[$0] > frame } - 1))
    }

    /// Which packet `mark` is; nil where that cannot be told.
    func number(of mark: Mark) -> Int? {
        if placesGrow, mark.place >= 0 {
            let i = Self.firstIndex(in: 0..<count) { marks[$0].place >= mark.place }
            if i < count, marks[i].place == mark.place, marks[i].size == mark.size { return i }
        } else if timesGrow {
            let i = Self.firstIndex(in: 0..<count) { marks[$0].time >= mark.time }
            if i < count, marks[i] == mark { return i }
        }
        return nil
    }

    /// The first index for which `holds` is true, which it is for all behind it.
    private static func firstIndex(in range: Range<Int>, where holds: (Int) -> Bool) -> Int {
        var (low, high) = (range.lowerBound, range.upperBound)
        while low < high {
            let middle = (low + high) / 2
            if holds(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
