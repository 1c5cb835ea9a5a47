import RenderCore

/// What is mixed into what: tracks into buses, buses into buses and outputs. Control describes it; a plan is
/// compiled from it.
public struct Graph: Sendable, Equatable {
    /// A track and the bus it plays into.
    public struct TrackNode: Sendable, Equatable {
        /// The track's slot.
        public var slot: SlotID
        /// The bus it plays into.
        public var bus: SlotID

        /// The track in `slot`, into `bus`.
        public init(slot: SlotID, bus: SlotID) {
            self.slot = slot
            self.bus = bus
        }
    }

    /// A bus and where it leads.
    public struct BusNode: Sendable, Equatable {
        /// The bus's slot.
        public var slot: SlotID
        /// Samples in a frame, 1 to 64.
        public var channelCount: Int
        /// The bus it feeds, if any. Buses never feed each other in a circle.
        public var destination: SlotID?
        /// The number of the driver's output that its first channel goes to, if any.
        public var firstOutput: Int?

        /// A bus in `slot`.
        public init(slot: SlotID, channelCount: Int, destination: SlotID? = nil, firstOutput: Int? = nil) {
            self.slot = slot
            self.channelCount = channelCount
            self.destination = destination
            self.firstOutput = firstOutput
        }
    }

    /// All tracks, in the order in which they are summed.
    public var tracks: [TrackNode]
    /// All buses.
    public var buses: [BusNode]

    /// A graph of these tracks and buses.
    public init(tracks: [TrackNode] = [], buses: [BusNode] = []) {
        self.tracks = tracks
        self.buses = buses
    }

    /// Whether some buses feed each other in a circle.
    public var hasCycle: Bool { sortedBuses().count < buses.count }

    /// Buses in an order in which each stands before the one that it feeds; those in a circle are left out.
    private func sortedBuses() -> [BusNode] {
        var feeders = Array(repeating: 0, count: buses.count)
        var positions: [UInt16: Int] = [:]
        for (i, bus) in buses.enumerated() { positions[bus.slot.index] = i }
        for bus in buses {
            if let next = bus.destination.flatMap({ positions[$0.index] }) { feeders[next] += 1 }
        }
        var ready = buses.indices.filter { feeders[$0] == 0 }
        var sorted: [BusNode] = []
        while let first = ready.first {
            ready.removeFirst()
            sorted.append(buses[first])
            if let next = buses[first].destination.flatMap({ positions[$0.index] }) {
                feeders[next] -= 1
                if feeders[next] == 0 { ready.append(next) }
            }
        }
        return sorted
    }

    struct Compiled {
        var players: [PlanPlayer] = []
        var buses: [PlanBus] = []
        var bufferSamples = 0
    }

    func compiled() -> Compiled {
        let sorted = sortedBuses()
        precondition(sorted.count == buses.count, "a graph whose buses feed each other in a circle")
        var places: [UInt16: Int] = [:]
        for (i, bus) in sorted.enumerated() { places[bus.slot.index] = i }
        var result = Compiled()
        for bus in sorted {
            result.buses.append(
                PlanBus(
                    slot: Int32(bus.slot.index), channelCount: Int32(bus.channelCount),
                    buffer: result.bufferSamples,
                    destination: Int32(bus.destination.flatMap { places[$0.index] } ?? -1),
                    firstOutput: Int32(bus.firstOutput ?? -1)))
            result.bufferSamples += bus.channelCount * RenderState.maximumBlock
        }
        result.players = tracks.compactMap { track in
            places[track.bus.index].map { PlanPlayer(slot: Int32(track.slot.index), bus: Int32($0)) }
        }
        return result
    }
}
