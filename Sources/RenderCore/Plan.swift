/// A track's place in a plan.
public struct PlanPlayer: BitwiseCopyable, Sendable {
    /// Where its state is.
    public var slot: Int32
    /// Which of the plan's buses it plays into, by position in the plan.
    public var bus: Int32

    /// The track in `slot`, into the plan's bus number `bus`.
    @_noLocks public init(slot: Int32, bus: Int32) {
        self.slot = slot
        self.bus = bus
    }
}

/// A bus's place in a plan.
public struct PlanBus: BitwiseCopyable, Sendable {
    /// Where its state is.
    public var slot: Int32
    /// Samples in a frame, 1 to 64.
    public var channelCount: Int32
    /// Where its mixing buffer begins in the plan's memory, in samples.
    public var buffer: Int
    /// The bus it feeds, by position in the plan: always a later one; −1 for none.
    public var destination: Int32
    /// Its first output, in the order of the driver's outputs; −1 for none.
    public var firstOutput: Int32

    /// A bus with its buffer, its way on and its outputs.
    @_noLocks public init(
        slot: Int32, channelCount: Int32, buffer: Int, destination: Int32, firstOutput: Int32
    ) {
        self.slot = slot
        self.channelCount = channelCount
        self.buffer = buffer
        self.destination = destination
        self.firstOutput = firstOutput
    }
}

/// A compiled graph: what is mixed into what, and in which order. It is immutable and holds no state but the
/// buffers that one block is mixed in; cursors, ramps and meters live in slots and survive a change of plan.
@safe
public struct Plan {
    let players: UnsafePointer<PlanPlayer>
    let playerCount: Int
    let buses: UnsafePointer<PlanBus>
    let busCount: Int
    let buffers: UnsafeMutablePointer<Float>

    /// A plan over memory that lives until the plan has come home through the retire ring.
    ///
    /// Every bus stands before the one that it feeds; `buffers` holds 8,192 frames for each bus.
    @_noLocks public init(
        players: UnsafePointer<PlanPlayer>, playerCount: Int, buses: UnsafePointer<PlanBus>, busCount: Int,
        buffers: UnsafeMutablePointer<Float>
    ) {
        unsafe self.players = players
        self.playerCount = playerCount
        unsafe self.buses = buses
        self.busCount = busCount
        unsafe self.buffers = buffers
    }
}
