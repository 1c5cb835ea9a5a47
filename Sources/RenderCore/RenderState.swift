import RealtimePrimitives
import Synchronization

/// Where the transport is, as control sees it after each block.
public struct TransportPosition: BitwiseCopyable, Sendable {
    /// The engine frame after the block.
    public var engineFrame: Int64
    /// The next stream frame to be heard.
    public var streamFrame: Int64
    /// Which stream that is.
    public var generation: UInt32
    /// Whether sound moves on (a stop that still fades counts).
    public var isRolling: Bool

    /// A position.
    @_noLocks public init(engineFrame: Int64, streamFrame: Int64, generation: UInt32, isRolling: Bool) {
        self.engineFrame = engineFrame
        self.streamFrame = streamFrame
        self.generation = generation
        self.isRolling = isRolling
    }
}

/// One of the two lanes that streams come in by turns, as all players share it.
public struct Lane: ~Copyable {
    /// The stream frame at which the session is over; `never` for one that has no end. Control sets it before
    /// the locate that uses the lane.
    public let sessionEnd: Atomic<Int64>
    /// The stream frame at which the transport stops by itself, with the fade of a stop; `never` otherwise.
    public let stopFrame: Atomic<Int64>
    /// The stream frame of which the tracks' `startsInside` speaks: a start anywhere else fades in.
    public let notedFrame: Atomic<Int64>
    /// Frames that a track must have ahead not to fade out for want of data: those of a fade, or fewer where little is
    /// kept ahead.
    public let reserve: Atomic<Int64>
    /// All stream frames below this one have been heard: streaming may overwrite them.
    public let consumed: Atomic<Int64>
    /// The generation whose stream may no longer be read here: control may prime the next.
    public let released: Atomic<UInt32>

    /// A lane that nobody uses.
    @_noLocks public init() {
        sessionEnd = Atomic(Int64.max)
        stopFrame = Atomic(Int64.max)
        notedFrame = Atomic(0)
        reserve = Atomic(0)
        consumed = Atomic(0)
        released = Atomic(0)
    }
}

/// All that the audio thread touches, in one struct, so that every reference to it stands out.
///
/// `EngineHost` makes it, over memory that it owns, locks and touches beforehand; from then on only
/// `Renderer.render` may use what is not marked as shared.
@safe
public struct RenderState: ~Copyable {
    // Shared with control, each through one of the four channels.
    var commands: RingReader<TimedCommand>
    var notices: RingWriter<Notice>
    var retired: RingWriter<UnsafeMutablePointer<Plan>>
    /// Notices that found their ring full.
    public let lostNotices = Atomic<UInt32>(0)
    var position: LatestWriter<TransportPosition>
    /// The meters' two banks.
    public var meters: MeterBanks
    /// Raised after each write to a fader cell.
    public let faderNews = Atomic<UInt32>(0)
    let trackFaders: UnsafeMutablePointer<Latest<FaderGains>>
    let busFaders: UnsafeMutablePointer<Latest<FaderGains>>
    let lanes: UnsafeMutablePointer<Lane>

    // The audio thread's own.
    let players: UnsafeMutablePointer<Player>
    let fades: UnsafeMutablePointer<PlayerFades>
    let buses: UnsafeMutablePointer<BusState>
    let trackCapacity: Int
    let busCapacity: Int
    var plan: UnsafeMutablePointer<Plan>
    var transport = Transport()
    var deferred: DeferredCommands
    var scratch: Scratch
    var fadersSeen: UInt32 = 0
    /// Frames in one lane of every ring, a power of two.
    let ringFrames: Int
    /// Frames that a fade takes: 30 ms.
    let fadeFrames: Int
    /// Frames that a crossover takes: 40 ms, in which two places of a 50 Hz tone cross over, whatever their
    /// phases, without a step over 1.04 times the tone's own.
    let crossoverFrames: Int
    /// The frame that the next block should begin with.
    var expectedFrame: Int64 = 0

    /// How many commands for later the audio thread keeps.
    public static var deferredCapacity: Int { @_noLocks get { DeferredCommands.capacity } }

    /// The longest block that can be rendered.
    public static var maximumBlock: Int { @_noLocks get { 8192 } }

    /// Memory and sizes that a state is made of; all of it stays valid for as long as the state is rendered.
    @unsafe
    public struct Storage {
        /// One for each track that can be there at a time.
        public var players: UnsafeMutablePointer<Player>
        /// One for each track.
        public var fades: UnsafeMutablePointer<PlayerFades>
        /// One for each track.
        public var trackFaders: UnsafeMutablePointer<Latest<FaderGains>>
        /// How many tracks those hold.
        public var trackCapacity: Int
        /// One for each bus.
        public var buses: UnsafeMutablePointer<BusState>
        /// One for each bus.
        public var busFaders: UnsafeMutablePointer<Latest<FaderGains>>
        /// How many buses those hold.
        public var busCapacity: Int
        /// Two lanes.
        public var lanes: UnsafeMutablePointer<Lane>
        /// 256 commands.
        public var deferred: UnsafeMutablePointer<TimedCommand>
        /// Six times `maximumBlock` samples.
        public var scratch: UnsafeMutablePointer<Float>

        /// Storage made of these parts.
        @_noLocks public init(
            players: UnsafeMutablePointer<Player>, fades: UnsafeMutablePointer<PlayerFades>,
            trackFaders: UnsafeMutablePointer<Latest<FaderGains>>, trackCapacity: Int,
            buses: UnsafeMutablePointer<BusState>, busFaders: UnsafeMutablePointer<Latest<FaderGains>>,
            busCapacity: Int, lanes: UnsafeMutablePointer<Lane>, deferred: UnsafeMutablePointer<TimedCommand>,
            scratch: UnsafeMutablePointer<Float>
        ) {
            unsafe self.players = players
            unsafe self.fades = fades
            unsafe self.trackFaders = trackFaders
            unsafe self.trackCapacity = trackCapacity
            unsafe self.buses = buses
            unsafe self.busFaders = busFaders
            unsafe self.busCapacity = busCapacity
            unsafe self.lanes = lanes
            unsafe self.deferred = deferred
            unsafe self.scratch = scratch
        }
    }

    /// **Control:** a state at rest that renders `plan`.
    @_noLocks public init(
        storage: Storage, plan: UnsafeMutablePointer<Plan>, commands: consuming RingReader<TimedCommand>,
        notices: consuming RingWriter<Notice>, retired: consuming RingWriter<UnsafeMutablePointer<Plan>>,
        position: consuming LatestWriter<TransportPosition>, meters: consuming MeterBanks, ringFrames: Int,
        fadeFrames: Int, crossoverFrames: Int
    ) {
        self.commands = commands
        self.notices = notices
        unsafe self.retired = retired
        self.meters = meters
        self.position = position
        unsafe trackFaders = storage.trackFaders
        unsafe busFaders = storage.busFaders
        unsafe lanes = storage.lanes
        unsafe players = storage.players
        unsafe fades = storage.fades
        unsafe buses = storage.buses
        unsafe trackCapacity = storage.trackCapacity
        unsafe busCapacity = storage.busCapacity
        unsafe self.plan = plan
        unsafe deferred = DeferredCommands(storage: storage.deferred)
        unsafe scratch = Scratch(storage.scratch)
        self.ringFrames = ringFrames
        self.fadeFrames = fadeFrames
        self.crossoverFrames = crossoverFrames
    }

    /// Tells control; a full ring is counted, never waited for.
    @_noLocks mutating func tell(_ notice: Notice) {
        if !notices.write(notice) {
            lostNotices.wrappingAdd(1, ordering: .relaxed)
        }
    }
}

/// Buffers for what changes from frame to frame, `RenderState.maximumBlock` samples each.
@safe
struct Scratch: BitwiseCopyable {
    let gate: UnsafeMutablePointer<Float>
    let oldGate: UnsafeMutablePointer<Float>
    let left: UnsafeMutablePointer<Float>
    let right: UnsafeMutablePointer<Float>
    let oldLeft: UnsafeMutablePointer<Float>
    let oldRight: UnsafeMutablePointer<Float>
    /// What `gate` and `oldGate` hold.
    var envelope = GateEnvelope()

    @_noLocks init(_ samples: UnsafeMutablePointer<Float>) {
        let block = RenderState.maximumBlock
        unsafe gate = samples
        unsafe oldGate = samples + block
        unsafe left = samples + 2 * block
        unsafe right = samples + 3 * block
        unsafe oldLeft = samples + 4 * block
        unsafe oldRight = samples + 5 * block
    }
}

/// What the gates of a track's next frames follow from, so that tracks which fade alike need them once.
struct GateEnvelope: BitwiseCopyable {
    var isValid = false
    private var gate = Ramp(0)
    private var oldGate = Ramp(0)
    private var likeness: Float = 1
    private var isNormalised = false

    @_noLocks init() {}

    @_noLocks init(_ fades: PlayerFades) {
        isValid = true
        gate = fades.gate
        oldGate = fades.oldGate
        likeness = fades.likeness
        isNormalised = fades.isNormalised
    }

    /// Whether the gates are those of `other`; the last stream's gate and its norm matter only in a crossover.
    @_noLocks func isSame(as other: GateEnvelope, crosses: Bool) -> Bool {
        guard isValid && gate.isSame(as: other.gate) else { return false }
        if !crosses { return true }
        return oldGate.isSame(as: other.oldGate) && isNormalised == other.isNormalised
            && (!isNormalised || likeness == other.likeness)
    }
}
