import CRealtime
import Glibc
import RealtimePrimitives
import RenderCore
import Synchronization

/// What a host is made for.
public struct HostConfiguration: Sendable {
    /// Frames a second, of the session and of the driver.
    public var sampleRate: Int
    /// Tracks that can be there at a time, 1 to 4,096.
    public var trackCapacity: Int
    /// Buses that can be there at a time, 1 to 256.
    public var busCapacity: Int
    /// Frames of each track that are kept ahead, a power of two.
    public var ringFrames: Int

    /// A host for `trackCapacity` tracks. Rings hold 1.4 s at 48 kHz, half of that for more than 128 tracks, so
    /// that memory stays bounded; at other rates the same time, rounded up to a power of two.
    public init(sampleRate: Int, trackCapacity: Int, busCapacity: Int = 64) {
        self.sampleRate = sampleRate
        self.trackCapacity = max(1, min(trackCapacity, 4096))
        self.busCapacity = max(1, min(busCapacity, 256))
        let wanted = (trackCapacity > 128 ? 32_768 : 65_536) * sampleRate / 48_000
        var frames = 32_768
        while frames < wanted { frames *= 2 }
        ringFrames = frames
    }

    /// Frames that every fade takes: 30 ms, in which a full-scale tone shows nothing above 2 kHz over −100 dB
    /// (docs/decisions.md).
    public var fadeFrames: Int { sampleRate * 30 / 1000 }

    /// Frames that a crossover from one place to another takes: 40 ms (docs/decisions.md).
    public var crossoverFrames: Int { sampleRate * 40 / 1000 }

    /// Frames at the beginning of each track that are kept in memory.
    public var headFrames: Int { trackCapacity > 128 ? 8_192 : 16_384 }
}

/// A full command ring: the engine takes nothing more at the moment.
public struct CommandRingFull: Error, Sendable {}

/// Owns the memory of the audio thread and speaks to it through the four channels.
///
/// **Control:** one isolation domain at a time uses a host.
@safe
public final class RenderHost {
    /// What the host was made for.
    public let configuration: HostConfiguration
    /// The threads that feed the tracks.
    public let streaming: StreamingService
    /// What a driver hands to `Renderer.render`. It stays valid for as long as the host.
    public let state: UnsafeMutablePointer<RenderState>

    let lanes: UnsafeMutablePointer<Lane>
    let memory: HostMemory
    let arena: RingArena
    var commands: RingWriter<TimedCommand>
    var notices: RingReader<Notice>
    var retired: RingReader<UnsafeMutablePointer<Plan>>
    var position: LatestReader<TransportPosition>
    var sequence: UInt32 = 0
    /// Ordered by frame.
    var held: [HeldBatch] = []
    /// The frames of commands that wait in the audio thread's store.
    var sentAhead: [EngineFrame] = []
    var graph = Graph()
    var plansAway = 1
    var slots: SlotTable
    var busSlots: SlotTable
    var meterTable: MeterTable
    var tracks: [UInt16: TrackEntry] = [:]
    var buses: [UInt16: BusEntry] = [:]

    // What streams there are, and where.
    var generation: UInt32 = 0
    var lane = 0
    var laneGenerations: [UInt32] = [0, 0]
    var streams: [UInt32: HostStream] = [:]
    /// What the current stream plays at or goes to, and the next is primed for: set by `noteSent` and `turn`, and before the
    /// first stream by whoever made the host.
    public var rates = Rates()

    /// Reports of sources that failed while they were read.
    public let failures = FailureLog()

    /// A host at rest, with no track and no bus.
    public init(_ configuration: HostConfiguration) {
        self.configuration = configuration
        memory = HostMemory(configuration)
        arena = RingArena(ringFrames: configuration.ringFrames)
        let commandRing = unsafe Ring<TimedCommand>(
            in: memory.commandRing, capacity: HostMemory.commandCapacity(configuration))
        let noticeRing = unsafe Ring<Notice>(in: memory.noticeRing, capacity: HostMemory.noticeCapacity)
        let retireRing = unsafe Ring<UnsafeMutablePointer<Plan>>(
            in: memory.retireRing, capacity: HostMemory.planCapacity)
        unsafe lanes = memory.lanes
        unsafe state = memory.state
        let commandReader = commandRing.reader
        commands = commandRing.writer
        let noticeWriter = noticeRing.writer
        notices = noticeRing.reader
        let retireWriter = unsafe retireRing.writer
        unsafe retired = retireRing.reader
        position = unsafe LatestReader(memory.position)
        unsafe memory.state.initialize(
            to: RenderState(
                storage: memory.storage, plan: memory.makePlan(Graph()), commands: commandReader,
                notices: noticeWriter, retired: retireWriter, position: LatestWriter(memory.position),
                meters: MeterBanks(first: memory.firstMeters, second: memory.secondMeters),
                ringFrames: configuration.ringFrames, fadeFrames: configuration.fadeFrames,
                crossoverFrames: configuration.crossoverFrames))
        slots = SlotTable(capacity: configuration.trackCapacity)
        busSlots = SlotTable(capacity: configuration.busCapacity)
        meterTable = MeterTable(count: memory.meterCount)
        streaming = unsafe StreamingService(
            lanes: lanes, ringFrames: configuration.ringFrames,
            crossoverFrames: configuration.crossoverFrames,
            sampleRate: configuration.sampleRate)
        memory.lock()
    }

    deinit {
        streaming.stop()
    }

    /// Frames that a track must have ready before it may start, with blocks of `period` frames: the first block, and
    /// behind it what a track in want of data fades out in, twice.
    static func primeFrames(period: Int, fadeFrames: Int) -> Int { max(4096, period + 2 * fadeFrames) }

    /// Whether all memory of the audio thread is locked; otherwise the memory lock limit is too low.
    public var isMemoryLocked: Bool { memory.isLocked && arena.isLocked }

    /// Maps the rings of tracks with so many channels altogether in one piece, unless there are more than a host takes.
    public func reserve(channels: Int) throws(HostFull) {
        guard channels <= meterTable.room else { throw .meters }
        arena.reserve(channels: channels)
    }
}
