import RealtimePrimitives
import RenderCore
import Synchronization

/// What the meters saw since they were last collected.
public struct MeterReading: Sendable {
    /// Frames that went by.
    public var frames: Int64
    /// Each track's channels, at least two: a mono track's second is its right side after the fader.
    public var tracks: [SlotID: [ChannelMeter]]
    /// Each bus's channels.
    public var buses: [SlotID: [ChannelMeter]]
}

extension SlotID: Hashable {
    /// Hashes the place and its tenant.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(index)
        hasher.combine(tenant)
    }
}

extension RenderHost {
    /// What the audio thread has told since the last call.
    public func takeNotices() -> [Notice] {
        var list: [Notice] = []
        while let notice = notices.read() { list.append(notice) }
        return list
    }

    /// How many notices found their ring full, since the beginning.
    public var lostNotices: UInt32 { unsafe state.pointee.lostNotices.load(ordering: .relaxed) }

    /// The meters' last answer, and a request for the next; nil until the audio thread has answered, at its next
    /// block.
    public func collectMeters() -> MeterReading? {
        let asked = unsafe state.pointee.meters.asked.load(ordering: .relaxed)
        guard unsafe state.pointee.meters.answered.load(ordering: .acquiring) == asked else { return nil }
        let bank = unsafe state.pointee.meters.collected
        var reading = MeterReading(
            frames: unsafe state.pointee.meters.collectedFrames, tracks: [:], buses: [:])
        for entry in tracks.values {
            let count = max(2, entry.channelCount)
            reading.tracks[entry.feed.slot] = (0..<count).map { unsafe bank[entry.meter + $0] }
        }
        for (index, entry) in buses {
            let slot = SlotID(index: index, tenant: entry.tenant)
            reading.buses[slot] = (0..<entry.channelCount).map { unsafe bank[entry.meter + $0] }
        }
        for i in 0..<meterTable.next { unsafe bank[i] = ChannelMeter() }
        unsafe state.pointee.meters.asked.store(asked &+ 1, ordering: .releasing)
        return reading
    }
}
