import Glibc
import RealtimePrimitives
import RenderCore

/// All memory that the audio thread touches but the rings: mapped, touched and locked in one place.
@safe
final class HostMemory {
    static let noticeCapacity = 4096
    static let planCapacity = 16

    let state: UnsafeMutablePointer<RenderState>
    let position: UnsafeMutablePointer<Latest<TransportPosition>>
    let lanes: UnsafeMutablePointer<Lane>
    let players: UnsafeMutablePointer<Player>
    let fades: UnsafeMutablePointer<PlayerFades>
    let links: UnsafeMutablePointer<PlayerLink>
    let trackFaders: UnsafeMutablePointer<Latest<FaderGains>>
    let buses: UnsafeMutablePointer<BusState>
    let busFaders: UnsafeMutablePointer<Latest<FaderGains>>
    let deferred: UnsafeMutablePointer<TimedCommand>
    let scratch: UnsafeMutablePointer<Float>
    let firstMeters: UnsafeMutablePointer<ChannelMeter>
    let secondMeters: UnsafeMutablePointer<ChannelMeter>
    let commandRing: UnsafeMutableRawPointer
    let noticeRing: UnsafeMutableRawPointer
    let retireRing: UnsafeMutableRawPointer
    let meterCount: Int
    private let configuration: HostConfiguration
    private let base: UnsafeMutableRawPointer
    private let bytes: Int
    private(set) var isLocked = false
    private var planBytes: [UnsafeMutablePointer<Plan>: Int] = unsafe [:]

    /// Every command of a batch must fit: one for each track and bus.
    static func commandCapacity(_ configuration: HostConfiguration) -> Int {
        var capacity = 1024
        while capacity < 2 * (configuration.trackCapacity + configuration.busCapacity) { capacity *= 2 }
        return capacity
    }

    /// Maps memory for `configuration`.
    init(_ configuration: HostConfiguration) {
        self.configuration = configuration
        let tracks = configuration.trackCapacity
        let busCount = configuration.busCapacity
        // Multichannel tracks and buses take meters from a common pool behind the pairs.
        meterCount = (tracks + busCount) * 2 + Self.meterPool
        var layout = MemoryLayoutPlanner()
        let stateAt = layout.place(RenderState.self, 1)
        let positionAt = layout.place(Latest<TransportPosition>.self, 1)
        let lanesAt = layout.place(Lane.self, 2)
        let playersAt = layout.place(Player.self, tracks)
        let fadesAt = layout.place(PlayerFades.self, tracks)
        let linksAt = layout.place(PlayerLink.self, tracks)
        let trackFadersAt = layout.place(Latest<FaderGains>.self, tracks)
        let busesAt = layout.place(BusState.self, busCount)
        let busFadersAt = layout.place(Latest<FaderGains>.self, busCount)
        let deferredAt = layout.place(TimedCommand.self, 256)
        let scratchAt = layout.place(Float.self, 6 * RenderState.maximumBlock)
        let firstMetersAt = layout.place(ChannelMeter.self, meterCount)
        let secondMetersAt = layout.place(ChannelMeter.self, meterCount)
        let commandBytes = Ring<TimedCommand>.byteCount(capacity: Self.commandCapacity(configuration))
        let commandsAt = layout.place(UInt8.self, commandBytes)
        let noticesAt = layout.place(UInt8.self, Ring<Notice>.byteCount(capacity: Self.noticeCapacity))
        let retiredAt = layout.place(
            UInt8.self, unsafe Ring<UnsafeMutablePointer<Plan>>.byteCount(capacity: Self.planCapacity))

        bytes = (layout.bytes + 4095) / 4096 * 4096
        let mapped = unsafe mmap(nil, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let mapped = unsafe mapped, unsafe mapped != MAP_FAILED else {
            fatalError("backline: out of memory: cannot map \(bytes) bytes for the engine")
        }
        unsafe base = mapped
        unsafe state = (mapped + stateAt).bindMemory(to: RenderState.self, capacity: 1)
        unsafe position = (mapped + positionAt).bindMemory(to: Latest<TransportPosition>.self, capacity: 1)
        unsafe lanes = (mapped + lanesAt).bindMemory(to: Lane.self, capacity: 2)
        unsafe players = (mapped + playersAt).bindMemory(to: Player.self, capacity: tracks)
        unsafe fades = (mapped + fadesAt).bindMemory(to: PlayerFades.self, capacity: tracks)
        unsafe links = (mapped + linksAt).bindMemory(to: PlayerLink.self, capacity: tracks)
        unsafe trackFaders = (mapped + trackFadersAt).bindMemory(
            to: Latest<FaderGains>.self, capacity: tracks)
        unsafe buses = (mapped + busesAt).bindMemory(to: BusState.self, capacity: busCount)
        unsafe busFaders = (mapped + busFadersAt).bindMemory(to: Latest<FaderGains>.self, capacity: busCount)
        unsafe deferred = (mapped + deferredAt).bindMemory(to: TimedCommand.self, capacity: 256)
        unsafe scratch = (mapped + scratchAt).bindMemory(
            to: Float.self, capacity: 6 * RenderState.maximumBlock)
        unsafe firstMeters = (mapped + firstMetersAt).bindMemory(to: ChannelMeter.self, capacity: meterCount)
        unsafe secondMeters = (mapped + secondMetersAt).bindMemory(
            to: ChannelMeter.self, capacity: meterCount)
        unsafe commandRing = mapped + commandsAt
        unsafe noticeRing = mapped + noticesAt
        unsafe retireRing = mapped + retiredAt

        unsafe memset(mapped, 0, bytes)
        unsafe position.initialize(
            to: Latest(TransportPosition(engineFrame: 0, streamFrame: 0, generation: 0, isRolling: false)))
        for i in 0..<2 { unsafe (lanes + i).initialize(to: Lane()) }
        let silence = FaderGains(left: 0, right: 0, sequence: 0, tenant: 0)
        let noRing = unsafe TrackRing(samples: scratch, pageStride: 0, channelCount: 1)
        for i in 0..<tracks {
            unsafe (links + i).initialize(to: PlayerLink())
            unsafe (trackFaders + i).initialize(to: Latest(silence))
            unsafe (fades + i).initialize(to: PlayerFades(gainLeft: 0, gainRight: 0))
            unsafe (players + i).initialize(
                to: Player(
                    ring: noRing, link: links + i, meter: 0, tenant: 0, gainLeft: 0, gainRight: 0))
        }
        for i in 0..<busCount {
            unsafe (busFaders + i).initialize(to: Latest(silence))
            unsafe (buses + i).initialize(to: BusState(gainLeft: 0, gainRight: 0, meter: 0, tenant: 0))
        }
    }

    deinit {
        unsafe planBytes.forEach { plan, size in unsafe munmap(UnsafeMutableRawPointer(plan), size) }
        unsafe munmap(base, bytes)
    }

    /// Meters for channels beyond the second.
    static let meterPool = 4096

    /// Locks the memory, where the system permits.
    func lock() {
        unsafe isLocked = mlock(base, bytes) == 0
    }

    /// The parts that a render state is made of.
    var storage: RenderState.Storage {
        unsafe RenderState.Storage(
            players: players, fades: fades, trackFaders: trackFaders,
            trackCapacity: configuration.trackCapacity,
            buses: buses, busFaders: busFaders, busCapacity: configuration.busCapacity, lanes: lanes,
            deferred: deferred, scratch: scratch)
    }

    /// Compiles a graph: a plan with its lists and buffers, in one touched and locked mapping.
    func makePlan(_ graph: Graph) -> UnsafeMutablePointer<Plan> {
        var layout = MemoryLayoutPlanner()
        let planAt = layout.place(Plan.self, 1)
        let playersAt = layout.place(PlanPlayer.self, graph.tracks.count)
        let busesAt = layout.place(PlanBus.self, graph.buses.count)
        let compiled = graph.compiled()
        let buffersAt = layout.place(Float.self, compiled.bufferSamples)
        let size = (layout.bytes + 4095) / 4096 * 4096
        let mapped = unsafe mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let mapped = unsafe mapped, unsafe mapped != MAP_FAILED else {
            fatalError("backline: out of memory: cannot map \(size) bytes for a plan")
        }
        unsafe memset(mapped, 0, size)
        unsafe mlock(mapped, size)
        let players = unsafe (mapped + playersAt).bindMemory(
            to: PlanPlayer.self, capacity: graph.tracks.count)
        let buses = unsafe (mapped + busesAt).bindMemory(to: PlanBus.self, capacity: graph.buses.count)
        for (i, player) in compiled.players.enumerated() { unsafe (players + i).initialize(to: player) }
        for (i, bus) in compiled.buses.enumerated() { unsafe (buses + i).initialize(to: bus) }
        let plan = unsafe (mapped + planAt).bindMemory(to: Plan.self, capacity: 1)
        unsafe plan.initialize(
            to: Plan(
                players: players, playerCount: compiled.players.count, buses: buses,
                busCount: compiled.buses.count,
                buffers: (mapped + buffersAt).bindMemory(to: Float.self, capacity: compiled.bufferSamples)))
        unsafe planBytes[plan] = size
        return unsafe plan
    }

    /// Frees a plan that has come home.
    func free(_ plan: UnsafeMutablePointer<Plan>) {
        if let size = unsafe planBytes.removeValue(forKey: plan) { unsafe munmap(plan, size) }
    }
}

/// Lays values out one behind the other, each on a cache line of its own.
struct MemoryLayoutPlanner {
    private(set) var bytes = 0

    /// The place for `count` values, in bytes from the beginning.
    mutating func place<Value: ~Copyable>(_ type: Value.Type, _ count: Int) -> Int {
        let offset = (bytes + 127) / 128 * 128
        bytes = offset + MemoryLayout<Value>.stride * count
        return offset
    }
}
