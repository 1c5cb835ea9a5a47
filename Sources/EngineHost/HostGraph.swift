import RealtimePrimitives
import RenderCore

/// Why a track or a bus could not be taken in.
public enum HostFull: Error, Sendable {
    /// No slot for another track.
    case tracks(capacity: Int)
    /// No slot for another bus.
    case buses(capacity: Int)
    /// No meters for so many more channels.
    case meters
    /// Too many plans are on their way.
    case plans
}

extension RenderHost {
    /// Takes a track in, at these linear gains; it is heard once a graph with it is adopted.
    ///
    /// It joins a stream under way where that has come to, and is primed with all others from the next on.
    public func addTrack(
        _ stream: TrackStream, left: Float, right: Float, rate: TrackRate = TrackRate()
    ) throws(HostFull) -> SlotID {
        guard let slot = slots.take() else { throw .tracks(capacity: configuration.trackCapacity) }
        let index = Int(slot.index)
        guard let meter = meterTable.take(max(2, stream.channelCount)) else {
            slots.giveBack(slot)
            throw .meters
        }
        let ring = arena.allocate(channels: stream.channelCount)
        let link = unsafe memory.links + index
        // What the last tenant's lanes held is not this one's.
        unsafe link.pointee = PlayerLink()
        unsafe memory.players[index] = Player(
            ring: ring, link: link, meter: meter, tenant: slot.tenant, gainLeft: left, gainRight: right)
        unsafe memory.fades[index] = PlayerFades(gainLeft: left, gainRight: right)
        let feed = unsafe TrackFeed(
            slot: slot, stream: stream, ring: ring, link: link, ringFrames: configuration.ringFrames,
            report: { [failures] in failures.add($0, $1) })
        if rate != TrackRate() { rates.tracks[slot] = rate }
        tracks[slot.index] = TrackEntry(feed: feed, meter: meter, channelCount: stream.channelCount)
        join(feed)
        return slot
    }

    /// Takes a bus in; it is heard once a graph with it is adopted.
    public func addBus(channelCount: Int, left: Float, right: Float) throws(HostFull) -> SlotID {
        guard let slot = busSlots.take() else { throw .buses(capacity: configuration.busCapacity) }
        guard let meter = meterTable.take(channelCount) else {
            busSlots.giveBack(slot)
            throw .meters
        }
        unsafe memory.buses[Int(slot.index)] = BusState(
            gainLeft: left, gainRight: right, meter: meter, tenant: slot.tenant)
        buses[slot.index] = BusEntry(tenant: slot.tenant, meter: meter, channelCount: channelCount)
        return slot
    }

    /// Renders by `graph` from `frame` on. Tracks that are new in it join in.
    public func adopt(_ graph: Graph, at frame: EngineFrame = .now) throws(HostFull) {
        freeRetiredPlans()
        guard plansAway < HostMemory.planCapacity else { throw .plans }
        let plan = unsafe memory.makePlan(graph)
        do throws(CommandRingFull) {
            try send([unsafe .adopt(plan)], at: frame)
        } catch {
            unsafe memory.free(plan)
            throw .plans
        }
        plansAway += 1
        self.graph = graph
    }

    /// Gives back a track that no adopted graph holds any more. The plan that held it must have retired.
    public func removeTrack(_ slot: SlotID) {
        guard let entry = tracks[slot.index], entry.feed.slot == slot else { return }
        streaming.remove(entry.feed)
        rates.tracks[slot] = nil
        arena.release(entry.feed.ring)
        meterTable.giveBack(entry.meter, max(2, entry.channelCount))
        tracks[slot.index] = nil
        slots.giveBack(slot)
    }

    /// Frees the plans that have come home, and returns how many are still away: 1 when the last graph that was
    /// adopted is the one that is rendered.
    @discardableResult
    public func freeRetiredPlans() -> Int {
        while let plan = unsafe retired.read() {
            unsafe memory.free(plan)
            plansAway -= 1
        }
        return plansAway
    }
}

/// What the host knows of a track.
struct TrackEntry {
    var feed: TrackFeed
    var meter: Int
    var channelCount: Int
}

/// What the host knows of a bus.
struct BusEntry {
    var tenant: UInt16
    var meter: Int
    var channelCount: Int
}

/// Which channel meters are taken.
struct MeterTable {
    /// The meters below this one are, or were, in use.
    private(set) var next = 0
    private let count: Int
    private var free: [Int: [Int]] = [:]

    init(count: Int) {
        self.count = count
    }

    /// Meters that were never taken.
    var room: Int { count - next }

    /// The first of `channels` meters in a row; nil when there are not so many.
    mutating func take(_ channels: Int) -> Int? {
        if let meter = free[channels]?.popLast() { return meter }
        guard next + channels <= count else { return nil }
        defer { next += channels }
        return next
    }

    /// Gives them back.
    mutating func giveBack(_ meter: Int, _ channels: Int) {
        free[channels, default: []].append(meter)
    }
}
