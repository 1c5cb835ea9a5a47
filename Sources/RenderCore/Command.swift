/// A place for a track or a bus in the engine's memory, together with the number of its tenant, so that a late
/// command cannot hit a newcomer.
public struct SlotID: BitwiseCopyable, Equatable, Sendable {
    /// Which place.
    public var index: UInt16
    /// Which tenant of that place.
    public var tenant: UInt16

    /// The slot `index` while `tenant` has it.
    @_noLocks public init(index: UInt16, tenant: UInt16) {
        self.index = index
        self.tenant = tenant
    }
}

/// What control asks of the audio thread.
@safe
public enum Command: BitwiseCopyable {
    /// Renders by this plan from now on; the old one goes home through the retire ring.
    case adopt(UnsafeMutablePointer<Plan>)
    /// Rolls: all players of the plan on the same frame.
    case start
    /// Fades out, then stands still where the fade ended.
    case stop
    /// Crosses over to the stream that is primed in `lane`, all players on the same frame.
    case locate(lane: UInt8, generation: UInt32)
    /// A track's gains, linear, towards the left (even) and the right (odd) channels of its bus.
    case trackGain(SlotID, left: Float, right: Float)
    /// A bus's gains, linear, for its left (even) and its right (odd) channels.
    case busGain(SlotID, left: Float, right: Float)
    /// Fades a track out for good, before a plan without it is adopted.
    case release(SlotID)
}

/// A command, its moment and its place among all changes that control makes.
public struct TimedCommand: BitwiseCopyable {
    /// When it takes effect; `.now` and frames that have passed mean the first frame of the next block.
    public var frame: EngineFrame
    /// Rises with every change; of two changes to one value the higher number wins, by whatever way they came.
    public var sequence: UInt32
    /// Whether the next command in the ring belongs to the same batch, which takes effect as one.
    public var continues: Bool
    /// What to do.
    public var command: Command

    /// A command for `frame`.
    @_noLocks public init(_ command: Command, at frame: EngineFrame, sequence: UInt32, continues: Bool) {
        self.command = command
        self.frame = frame
        self.sequence = sequence
        self.continues = continues
    }
}

/// What the audio thread tells control. Frames are engine frames.
public enum Notice: BitwiseCopyable, Sendable {
    /// The transport rolled from this frame on.
    case started(at: EngineFrame)
    /// The transport stands still from this frame on: since it was told to stop, or by itself where the stream was to.
    case stopped(at: EngineFrame, byItself: Bool)
    /// The end of the session came at this frame.
    case ended(at: EngineFrame)
    /// The stream of this generation sounds from this frame on.
    case located(generation: UInt32, at: EngineFrame)
    /// A track ran out of data: it fades out, keeps its place and comes back when there is data.
    case underrun(SlotID, at: EngineFrame)
    /// A command for a frame that had passed took effect so many frames late.
    case late(by: Int64, at: EngineFrame)
    /// The server lost frames; every player skipped the same.
    case lost(frames: Int64, at: EngineFrame)
    /// A command was refused: too many for later, or made for a stream that is no more.
    case refused(sequence: UInt32)
}
