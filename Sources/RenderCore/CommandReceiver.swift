import RealtimePrimitives
import Synchronization

extension RenderState {
    /// How many commands one block takes, unless a batch goes on beyond it.
    static var commandsPerBlock: Int { @_noLocks get { 256 } }

    /// Takes what has arrived: what is due takes effect now, what is for later is kept.
    @_noLocks mutating func receiveCommands(at now: EngineFrame) {
        var received = 0
        var batchGoesOn = false
        while received < Self.commandsPerBlock || batchGoesOn {
            guard let timed = commands.read() else { return }
            received &+= 1
            batchGoesOn = timed.continues
            if now < timed.frame {
                if !deferred.insert(timed) { tell(.refused(sequence: timed.sequence)) }
            } else {
                if !timed.frame.isNow && timed.frame < now {
                    tell(.late(by: now.value &- timed.frame.value, at: now))
                }
                apply(timed, at: now)
            }
        }
    }

    /// Applies the commands that were kept for `now`, or for a frame that was lost.
    @_noLocks mutating func applyDueCommands(at now: EngineFrame) {
        while !(now < deferred.nextFrame) {
            let timed = deferred.removeFirst()
            if timed.frame < now { tell(.late(by: now.value &- timed.frame.value, at: now)) }
            apply(timed, at: now)
        }
        let stopFrame = unsafe lanes[transport.lane].stopFrame.load(ordering: .acquiring)
        if transport.isRolling && transport.frame >= stopFrame {
            stop(at: now, byItself: true)
        }
    }

    @_noLocks private mutating func apply(_ timed: TimedCommand, at now: EngineFrame) {
        switch timed.command {
        case .adopt(let newPlan):
            unsafe adopt(newPlan)
        case .start:
            start(at: now)
        case .stop:
            stop(at: now, byItself: false)
        case .locate(let lane, let generation):
            locate(lane: Int(lane & 1), generation: generation, sequence: timed.sequence, at: now)
        case .trackGain(let slot, let left, let right):
            setTrackGain(
                Int(slot.index),
                FaderGains(left: left, right: right, sequence: timed.sequence, tenant: slot.tenant),
                isByHand: false)
        case .busGain(let slot, let left, let right):
            setBusGain(
                Int(slot.index),
                FaderGains(left: left, right: right, sequence: timed.sequence, tenant: slot.tenant),
                isByHand: false)
        case .release(let slot):
            releaseTrack(slot)
        }
    }

    /// Changes the plan. Players that the old plan has not heard join in; those that leave forget where they were,
    /// so that one that comes back later joins in as well, whatever lane is heard by then.
    @_noLocks private mutating func adopt(_ newPlan: UnsafeMutablePointer<Plan>) {
        let oldPlan = unsafe plan
        forEachPlayer { state, slot in unsafe state.players[slot].flags.isLeaving = true }
        unsafe plan = newPlan
        let lane = transport.lane
        let rolls = transport.isRolling
        forEachPlayer { state, slot in
            let player = unsafe state.players + slot
            unsafe player.pointee.flags.isLeaving = false
            guard unsafe player.pointee.flags.isFresh else { return }
            unsafe player.pointee.flags.isFresh = false
            unsafe player.pointee.enter(
                lane: lane, fades: &state.fades[slot], sounds: rolls, over: state.fadeFrames)
            // Where a stream is under way nobody knows whether this is the middle of a sound.
            if rolls && state.transport.frame > 0 {
                unsafe state.fades[slot].gate.jump(to: 0)
                unsafe state.fades[slot].gate.move(to: 1, over: state.fadeFrames)
            }
        }
        for i in 0..<(unsafe oldPlan.pointee.playerCount) {
            let player = unsafe players + Int(oldPlan.pointee.players[i].slot)
            guard unsafe player.pointee.flags.isLeaving else { continue }
            unsafe player.pointee.flags = Player.Flags()
        }
        unsafe _ = retired.write(oldPlan)
    }

    /// Looks at the faders, if one was moved.
    @_noLocks mutating func receiveFaders() {
        let news = faderNews.load(ordering: .acquiring)
        if news == fadersSeen { return }
        fadersSeen = news
        for slot in 0..<trackCapacity {
            var fader = unsafe LatestReader(trackFaders + slot)
            if fader.hasNews { setTrackGain(slot, fader.read(), isByHand: true) }
        }
        for slot in 0..<busCapacity {
            var fader = unsafe LatestReader(busFaders + slot)
            if fader.hasNews { setBusGain(slot, fader.read(), isByHand: true) }
        }
    }

    @_noLocks private func setTrackGain(_ slot: Int, _ gains: FaderGains, isByHand: Bool) {
        guard slot < trackCapacity, unsafe players[slot].tenant == gains.tenant else { return }
        let fade = unsafe fades + slot
        guard unsafe fade.pointee.order.accepts(gains.sequence, isByHand: isByHand) else { return }
        unsafe fade.pointee.left.move(to: gains.left, over: fadeFrames)
        unsafe fade.pointee.right.move(to: gains.right, over: fadeFrames)
        unsafe players[slot].flags.isFading = true
    }

    @_noLocks private func setBusGain(_ slot: Int, _ gains: FaderGains, isByHand: Bool) {
        guard slot < busCapacity, unsafe buses[slot].tenant == gains.tenant else { return }
        let bus = unsafe buses + slot
        guard unsafe bus.pointee.order.accepts(gains.sequence, isByHand: isByHand) else { return }
        unsafe bus.pointee.left.move(to: gains.left, over: fadeFrames)
        unsafe bus.pointee.right.move(to: gains.right, over: fadeFrames)
    }

    @_noLocks private func releaseTrack(_ slot: SlotID) {
        let index = Int(slot.index)
        guard index < trackCapacity, unsafe players[index].tenant == slot.tenant else { return }
        unsafe fades[index].shut(within: fadeFrames)
        unsafe players[index].flags.isFading = true
    }
}
