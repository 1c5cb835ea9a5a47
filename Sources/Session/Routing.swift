/// Holds the ids and outputs of a session's tracks and buses against each other.
struct Routing {
    private let log: FaultLog
    private(set) var tracks: [Draft<Track>]
    private(set) var buses: [Draft<Bus>]

    /// Gives ids to the tracks that have none, and reports ids that stand twice, outputs that lead nowhere, and
    /// buses that feed themselves.
    init(tracks: [Draft<Track>], buses: [Draft<Bus>], log: FaultLog) {
        self.log = log
        self.tracks = tracks
        self.buses = buses
        identify()
        checkOutputs()
        checkCycles()
    }

    private mutating func identify() {
        let givenIDs = tracks.compactMap(\.id) + buses.compactMap(\.id)
        var identifiers = Identifiers()
        var firstOffsets: [String: Int] = [:]
        if buses.isEmpty { identifiers.claim(Bus.implicitMain.id) }
        for (id, offset) in givenIDs.sorted(by: { $0.offset < $1.offset }) {
            if identifiers.claim(id) {
                firstOffsets[id] = offset
            } else if let first = firstOffsets[id] {
                let message = "stands twice, first on line \(log.line(of: first))"
                log.report("id \(quoted(id)) \(message); each track and bus needs its own", at: offset)
            } else {
                let message = "is taken: a session that declares no bus has one of that id"
                log.report("id \(quoted(id)) \(message)", at: offset)
            }
        }
        // Given ids come first, wherever they stand: no id that is made up takes one away.
        for index in tracks.indices where tracks[index].id == nil {
            guard let file = tracks[index].value.clips.first?.file else { continue }
            let id = identifiers.make(for: file)
            tracks[index].value.id = id
            tracks[index].value.name = id
        }
    }

    private func checkOutputs() {
        let main = Bus.implicitMain.id
        let ids = buses.isEmpty ? [main] : buses.compactMap(\.id?.id)
        let known = Set(ids)
        let outputs = tracks.map { ($0.label, $0.output) } + buses.map { ($0.label, $0.output) }
        for case let (label, output?) in outputs where !known.contains(output.id) {
            let hint = Spelling.hint(for: output.id, among: ids)
            let message = "there is no bus \(quoted(output.id))\(hint)"
            log.report("\"output\" in \(label): \(message)", at: output.offset)
        }
        guard !known.contains(main) else { return }
        for track in tracks where track.output == nil {
            let message = "\(track.label) has no \"output\", and no bus is called \(quoted(main))"
            log.report("\(message); name one of the buses, or declare it", at: track.offset)
        }
    }

    private func checkCycles() {
        let indices = Dictionary(buses.indices.map { (buses[$0].value.id, $0) }) { first, _ in first }
        var isDone = Array(repeating: false, count: buses.count)
        for start in buses.indices {
            var path: [Int] = []
            var places: [Int: Int] = [:]
            var next: Int? = start
            while let index = next, !isDone[index], places[index] == nil {
                places[index] = path.count
                path.append(index)
                next = buses[index].output.flatMap { indices[$0.id] }
            }
            if let index = next, let place = places[index], let output = buses[index].output {
                let circle = (path[place...] + [index]).map { quoted(buses[$0].value.id) }
                let message = "buses feed each other in a circle"
                log.report("\(message): \(circle.joined(separator: " → "))", at: output.offset)
            }
            for index in path { isDone[index] = true }
        }
    }
}
