import CRealtime
import Synchronization

/// What a track's streaming side tells its render side about one lane.
public struct LaneLink: ~Copyable {
    /// How many stream frames can be read: all below this one.
    public let written: Atomic<Int64>
    /// The stream frame at which the track has sounded out; set once all before it is written, `never` until then.
    public let end: Atomic<Int64>
    /// Whether a start here falls into the middle of a sound and must fade in.
    public let startsInside: Atomic<Bool>
    /// How much the first moments resemble what sounds before them, 0 to 1, in thousandths; control sets it
    /// before a locate, and it chooses between a crossover of equal power (0) and one of equal gain (1,000).
    public let likeness: Atomic<UInt16>

    /// A lane that holds nothing.
    @_noLocks public init() {
        written = Atomic(0)
        end = Atomic(Int64.max)
        startsInside = Atomic(false)
        likeness = Atomic(1000)
    }
}

/// The two lanes of a track, each on a cache line of its own.
public struct PlayerLink: ~Copyable {
    let first: LaneLink
    let firstPadding: InlineArray<5, Int>
    let second: LaneLink
    let secondPadding: InlineArray<5, Int>

    /// Two empty lanes.
    @_noLocks public init() {
        first = LaneLink()
        firstPadding = InlineArray(repeating: 0)
        second = LaneLink()
        secondPadding = InlineArray(repeating: 0)
    }
}

/// A pointer to one lane's link.
extension UnsafeMutablePointer where Pointee == PlayerLink {
    /// The link of lane 0 or 1.
    @_noLocks public func lane(_ lane: Int) -> UnsafeMutablePointer<LaneLink> {
        unsafe UnsafeMutableRawPointer(self)
            .advanced(by: lane &* (MemoryLayout<PlayerLink>.stride / 2))
            .assumingMemoryBound(to: LaneLink.self)
    }
}

/// The part of a track's state that every block needs: one cache line, so that a thousand tracks fit the cache.
@safe
public struct Player: BitwiseCopyable {
    /// What keeps a track from the short way through the mixer.
    struct Flags: BitwiseCopyable {
        /// A gain or the gate is on its way, or the gate is shut.
        var isFading = true
        /// The last stream still sounds.
        var isCrossing = false
        /// Out of data: waiting for more.
        var isStarved = false
        /// Not heard in any plan yet.
        var isFresh = true
        /// Not in the plan that is being adopted; set only meanwhile.
        var isLeaving = false

        @_noLocks init() {}

        /// Whether nothing keeps the track from the short way.
        var isClear: Bool {
            @_noLocks @inline(__always) get { !(isFading || isCrossing || isStarved || isFresh) }
        }
    }

    let ring: TrackRing
    let link: UnsafeMutablePointer<PlayerLink>
    /// Stream frames known to be readable.
    var available: Int64
    /// The stream frame at which the track has sounded out.
    var end: Int64
    var gainLeft: Float
    var gainRight: Float
    var flags: Flags
    let meter: Int32
    let tenant: UInt16

    /// **Control:** a track that no plan has heard yet.
    ///
    /// `ring` holds both lanes, one behind the other, each of the engine's ring capacity; `meter` is the first of
    /// the track's channel meters, of which it has two or, if that is more, one a channel.
    @_noLocks public init(
        ring: TrackRing, link: UnsafeMutablePointer<PlayerLink>, meter: Int, tenant: UInt16, gainLeft: Float,
        gainRight: Float
    ) {
        self.ring = ring
        unsafe self.link = link
        available = 0
        end = .max
        self.gainLeft = gainLeft
        self.gainRight = gainRight
        flags = Flags()
        self.meter = Int32(meter)
        self.tenant = tenant
    }

    /// Looks again at how much there is to read in `lane`.
    @_noLocks mutating func refresh(lane: Int) {
        let link = unsafe self.link.lane(lane)
        available = unsafe link.pointee.written.load(ordering: .acquiring)
        end = unsafe link.pointee.end.load(ordering: .acquiring)
        if end != .max { available = .max }
    }
}

/// The part of a track's state that only changes need.
public struct PlayerFades: BitwiseCopyable {
    /// Opens and shuts the track: starts, stops, locates, lack of data.
    var gate = Ramp(0)
    var left: Ramp
    var right: Ramp
    /// The gate of the last stream, while it still sounds.
    var oldGate = Ramp(0)
    var oldAvailable: Int64 = 0
    var oldEnd: Int64 = 0
    /// 0 to 1; see `LaneLink.likeness`.
    var likeness: Float = 1
    /// Whether both gates of a crossover are held to constant power.
    var isNormalised = false
    var order = ChangeOrder()

    /// **Control:** a track with these gains, its gate shut.
    @_noLocks public init(gainLeft: Float, gainRight: Float) {
        left = Ramp(gainLeft)
        right = Ramp(gainRight)
    }

    /// What the crossover multiplies both gates with. With gates a and b of two streams whose likeness is r, the
    /// power of the sum is a² + b² + 2rab; this holds it at 1. For r = 1 it is a + b = 1 and changes nothing.
    @_noLocks @inline(__always)
    func norm(_ old: Float, _ new: Float) -> Float {
        if !isNormalised { return 1 }
        let power = old * old + new * new + 2 * likeness * old * new
        return 1 / rt_square_root(power)
    }

    /// Lets each gate of a crossover go its own way, from where it stands: one that is shut must not be made up for
    /// by the other.
    @_noLocks mutating func part() {
        guard isNormalised else { return }
        let now = norm(oldGate.value(at: 0), gate.value(at: 0))
        let next = norm(oldGate.value(at: 1), gate.value(at: 1))
        let (old, new) = (oldGate.value(at: 0) * now, gate.value(at: 0) * now)
        oldGate.goOn(from: old, slopePerFrame: oldGate.value(at: 1) * next - old)
        gate.goOn(from: new, slopePerFrame: gate.value(at: 1) * next - new)
        isNormalised = false
    }

    /// Shuts the track within `frames`, a stream that still crosses over too.
    @_noLocks mutating func shut(within frames: Int) {
        part()
        gate.shut(within: frames)
        oldGate.shut(within: frames)
    }
}

/// A bus's state.
public struct BusState: BitwiseCopyable {
    var left: Ramp
    var right: Ramp
    let meter: Int32
    let tenant: UInt16
    var order = ChangeOrder()

    /// **Control:** a bus with these gains; `meter` is the first of its channel meters.
    @_noLocks public init(gainLeft: Float, gainRight: Float, meter: Int, tenant: UInt16) {
        left = Ramp(gainLeft)
        right = Ramp(gainRight)
        self.meter = Int32(meter)
        self.tenant = tenant
    }
}

/// Which of two changes to one value is the newer, when one came as a command and the other by hand.
///
/// Commands take effect in the order of their frames, whenever they were sent; a fader that was moved after a command
/// was sent overrules it, and the other way round.
struct ChangeOrder: BitwiseCopyable {
    private var command: UInt32 = 0
    private var hand: UInt32 = 0

    @_noLocks init() {}

    /// Whether a change with this number takes effect; if so it is noted.
    @_noLocks mutating func accepts(_ sequence: UInt32, isByHand: Bool) -> Bool {
        if isByHand {
            guard Self.isNewer(sequence, than: command) else { return false }
            hand = sequence
        } else {
            guard Self.isNewer(sequence, than: hand) else { return false }
            if Self.isNewer(sequence, than: command) { command = sequence }
        }
        return true
    }

    /// Numbers wrap: a difference of less than half their range is a newer change.
    @_noLocks private static func isNewer(_ a: UInt32, than b: UInt32) -> Bool {
        Int32(truncatingIfNeeded: a &- b) > 0
    }
}

/// A fader moved by hand: only where it stands now matters.
public struct FaderGains: BitwiseCopyable, Sendable {
    /// Linear gain towards the left (even) channels.
    public var left: Float
    /// Linear gain towards the right (odd) channels.
    public var right: Float
    /// The change's place among all changes; see `TimedCommand.sequence`.
    public var sequence: UInt32
    /// Which tenant of the slot is meant.
    public var tenant: UInt16

    /// Gains for the slot's `tenant`.
    @_noLocks public init(left: Float, right: Float, sequence: UInt32, tenant: UInt16) {
        self.left = left
        self.right = right
        self.sequence = sequence
        self.tenant = tenant
    }
}
