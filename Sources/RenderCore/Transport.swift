import RealtimePrimitives
import Synchronization

/// Where all players of a plan are: they share one stream frame, so that stems cannot drift apart.
struct Transport: BitwiseCopyable {
    enum Phase: BitwiseCopyable {
        case stopped
        case rolling
        /// Still sounding: the fade of a stop.
        case stopping
    }

    var phase = Phase.stopped
    /// The lane that sounds, 0 or 1.
    var lane = 0
    var generation: UInt32 = 0
    /// The next stream frame.
    var frame: Int64 = 0
    /// Frames left of a stop's fade.
    var stopFrames = 0
    /// Whether nobody asked for the stop: the stream was to end there.
    var stopsByItself = false
    /// A locate came in a stop's fade: only the last stream moves, and this one stands at its first frame.
    var isHeld = false
    /// The last stream's next frame, and how many frames it still sounds.
    var oldFrame: Int64 = 0
    var oldFrames = 0
    var oldGeneration: UInt32 = 0

    @_noLocks init() {}

    /// Whether the transport rolls and no stop has begun.
    var isRolling: Bool { @_noLocks get { if case .rolling = phase { true } else { false } } }

    /// Whether the fade of a stop is under way.
    var isStopping: Bool { @_noLocks get { if case .stopping = phase { true } else { false } } }

    /// Whether players read their streams.
    var isMoving: Bool { @_noLocks get { if case .stopped = phase { false } else { true } } }

    /// The lane of the last stream.
    var oldLane: Int { @_noLocks get { 1 &- lane } }
}

extension RenderState {
    /// Rolls from the next frame on: a player in the middle of a sound fades in, one at a sound's first frame,
    /// or before it, does not.
    @_noLocks mutating func start(at frame: EngineFrame) {
        if transport.isRolling { return }
        let lane = transport.lane
        let wasStopping = transport.isStopping && !transport.isHeld
        // The note is of another place where a stop's fade ended after it was made.
        let isNoted = unsafe lanes[lane].notedFrame.load(ordering: .acquiring) == transport.frame
        let mayBeInside = wasStopping || !isNoted
        transport.phase = .rolling
        transport.isHeld = false
        forEachPlayer { state, slot in
            let inside = unsafe state.players[slot].link.lane(lane).pointee.startsInside.load(
                ordering: .acquiring)
            if inside || mayBeInside {
                unsafe state.fades[slot].gate.move(to: 1, over: state.fadeFrames)
            } else {
                unsafe state.fades[slot].gate.jump(to: 1)
            }
            unsafe state.players[slot].flags.isFading = true
        }
        tell(.started(at: frame))
    }

    /// Fades every player out; the transport stands still where the fade ends.
    @_noLocks mutating func stop(at frame: EngineFrame, byItself: Bool) {
        if !transport.isRolling { return }
        transport.phase = .stopping
        transport.stopsByItself = byItself
        transport.stopFrames = fadeFrames
        forEachPlayer { state, slot in
            unsafe state.fades[slot].shut(within: state.fadeFrames)
            unsafe state.players[slot].flags.isFading = true
        }
    }

    /// Crosses over to the stream in `lane`.
    @_noLocks mutating func locate(lane: Int, generation: UInt32, sequence: UInt32, at frame: EngineFrame) {
        if lane == transport.lane || transport.oldFrames > 0 { return tell(.refused(sequence: sequence)) }
        let sounds = transport.isRolling
        let wasMoving = transport.isMoving
        let oldFrame = transport.frame
        let oldLane = transport.lane
        transport.oldFrame = oldFrame
        transport.oldGeneration = transport.generation
        transport.oldFrames = wasMoving ? crossoverFrames : 0
        transport.lane = lane
        transport.generation = generation
        transport.frame = 0
        if transport.isStopping {
            transport.isHeld = true
            transport.stopFrames = crossoverFrames
        }
        forEachPlayer { state, slot in
            unsafe state.players[slot].refresh(lane: oldLane)
            unsafe state.fades[slot].leave(
                state.players[slot], at: oldFrame, over: wasMoving ? state.crossoverFrames : 0)
            unsafe state.players[slot].enter(
                lane: lane, fades: &state.fades[slot], sounds: sounds, over: state.crossoverFrames)
            if wasMoving { unsafe state.players[slot].flags.isCrossing = true }
        }
        if !wasMoving { release(lane: oldLane, generation: transport.oldGeneration) }
        tell(.located(generation: generation, at: frame))
    }

    /// Leaves the lane to the streaming side.
    @_noLocks func release(lane: Int, generation: UInt32) {
        unsafe lanes[lane].released.store(generation, ordering: .releasing)
    }

    /// The session is over: nothing sounds any more, so nothing fades.
    @_noLocks mutating func end(at frame: EngineFrame) {
        transport.phase = .stopped
        forEachPlayer { state, slot in
            unsafe state.fades[slot].gate.jump(to: 0)
            unsafe state.players[slot].flags.isFading = true
        }
        tell(.ended(at: frame))
    }

    /// Lets `frames` pass on the stream that sounds and on the one that fades.
    @_noLocks mutating func advanceTransport(_ frames: Int, to frame: EngineFrame) {
        if transport.oldFrames > 0 {
            transport.oldFrame &+= Int64(frames)
            transport.oldFrames = max(0, transport.oldFrames &- frames)
            if transport.oldFrames == 0 {
                release(lane: transport.oldLane, generation: transport.oldGeneration)
            }
        }
        guard transport.isMoving else { return }
        if transport.isStopping {
            transport.stopFrames &-= frames
            if transport.stopFrames <= 0 {
                transport.phase = .stopped
                tell(.stopped(at: frame, byItself: transport.stopsByItself))
            }
        }
        if transport.isHeld {
            transport.isHeld = transport.isMoving
            return
        }
        transport.frame &+= Int64(frames)
        let sessionEnd = unsafe lanes[transport.lane].sessionEnd.load(ordering: .relaxed)
        if transport.frame >= sessionEnd && transport.oldFrames == 0 { end(at: frame) }
        unsafe lanes[transport.lane].consumed.store(transport.frame, ordering: .releasing)
    }

    @_noLocks @inline(__always)
    func forEachPlayer(_ body: (borrowing RenderState, Int) -> Void) {
        let plan = unsafe self.plan
        for i in 0..<(unsafe plan.pointee.playerCount) {
            body(self, Int(unsafe plan.pointee.players[i].slot))
        }
    }
}

extension PlayerFades {
    /// The stream that `player` played becomes the old one, and fades.
    @_noLocks mutating func leave(_ player: Player, at frame: Int64, over frames: Int) {
        let readable = min(player.available, player.end) &- frame
        isNormalised = gate.rests(at: 1) && readable >= Int64(frames)
        oldGate = gate
        oldAvailable = player.available
        oldEnd = player.end
        if readable <= 0 {
            oldGate.jump(to: 0)
        } else {
            let limit = player.end <= player.available ? Int64(frames) : min(Int64(frames), readable)
            oldGate.shut(within: Int(limit))
        }
    }
}

extension Player {
    /// Goes over to the stream in `lane`: from its first frame on at once, or fading in where that is in the
    /// middle of a sound.
    @_noLocks mutating func enter(lane: Int, fades: inout PlayerFades, sounds: Bool, over frames: Int) {
        refresh(lane: lane)
        flags.isStarved = false
        flags.isFading = true
        let link = unsafe self.link.lane(lane)
        fades.gate.jump(to: 0)
        fades.likeness = Float(unsafe link.pointee.likeness.load(ordering: .acquiring)) / 1000
        if !sounds { return }
        if unsafe link.pointee.startsInside.load(ordering: .acquiring) {
            fades.gate.move(to: 1, over: frames)
        } else {
            fades.gate.jump(to: 1)
            fades.isNormalised = false
        }
    }
}
