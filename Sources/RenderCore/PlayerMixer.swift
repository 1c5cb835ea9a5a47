import CRealtime
import Synchronization

extension RenderState {
    /// How many tracks ahead the mixer asks for memory (docs/realtime.md).
    static var prefetchDistance: Int { @_noLocks get { 8 } }

    /// Zeroes the first `count` frames of every bus.
    @_noLocks func clearBuses(_ count: Int) {
        for i in 0..<(unsafe plan.pointee.busCount) {
            let bus = unsafe plan.pointee.buses[i]
            unsafe Renderer.clear(plan.pointee.buffers + bus.buffer, count: count &* Int(bus.channelCount))
        }
    }

    /// Adds the next `count` frames of every track to its bus.
    @_noLocks mutating func mixPlayers(_ count: Int, at now: EngineFrame) {
        guard transport.isMoving else { return }
        let playerCount = unsafe plan.pointee.playerCount
        let list = unsafe plan.pointee.players
        let frame = transport.frame
        let seen = frame &+ Int64(count)
        let offset = Int(frame & Int64(ringFrames &- 1))
        let laneOffset = transport.lane &* ringFrames &+ offset
        let meterBank = unsafe meters.active
        let needed = seen &+ reserve
        scratch.envelope.isValid = false
        for i in 0..<playerCount {
            let ahead = i &+ Self.prefetchDistance
            if ahead < playerCount { unsafe prefetch(Int(list[ahead].slot), laneOffset, count) }
            let entry = unsafe list[i]
            let player = unsafe players + Int(entry.slot)
            let bus = unsafe plan.pointee.buses[Int(entry.bus)]
            // What is known of the data runs out with every turn of the streaming side, on all tracks together.
            if unsafe player.pointee.available < needed {
                unsafe player.pointee.refresh(lane: transport.lane)
            }
            let isSteady =
                unsafe player.pointee.flags.isClear
                && player.pointee.available >= needed && player.pointee.end >= seen
            if isSteady && bus.channelCount == 2 && (unsafe player.pointee.ring.channelCount == 2) {
                let left = unsafe player.pointee.gainLeft
                let right = unsafe player.pointee.gainRight
                let source = unsafe UnsafePointer(player.pointee.ring.frame(laneOffset))
                let levels = unsafe MixKernels.addStereo(
                    source, to: plan.pointee.buffers + bus.buffer, frames: count, left: left, right: right)
                let meter = unsafe meterBank + Int(player.pointee.meter)
                unsafe meter.note(levels, left: left, right: right, source: source, frames: count)
            } else {
                mixCarefully(Int(entry.slot), bus: bus, count: count, at: now)
            }
        }
    }

    @_noLocks @inline(__always)
    private func prefetch(_ slot: Int, _ laneOffset: Int, _ count: Int) {
        let ring = unsafe players[slot].ring
        let start = unsafe UnsafeRawPointer(ring.frame(laneOffset))
        let bytes = min(count &* ring.channelCount &* 4, 1024)
        var i = 0
        while i < bytes {
            unsafe rt_prefetch(start + i)
            i &+= 64
        }
    }

    /// A track that fades, crosses over, ends or lacks data, or that is not stereo into stereo.
    @_noLocks private mutating func mixCarefully(_ slot: Int, bus: PlanBus, count: Int, at now: EngineFrame) {
        let player = unsafe players + slot
        let fade = unsafe fades + slot
        let frame = transport.frame
        watchData(slot, count: count, at: now)

        // What is there to be heard of the stream, and of the last one.
        let readable = unsafe min(player.pointee.available, player.pointee.end) &- frame
        let heard = Int(max(0, min(Int64(count), readable)))
        var oldHeard = 0
        if unsafe player.pointee.flags.isCrossing && transport.oldFrames > 0 {
            let oldReadable = unsafe min(fade.pointee.oldAvailable, fade.pointee.oldEnd) &- transport.oldFrame
            oldHeard =
                unsafe fade.pointee.oldGate.rests(at: 0) ? 0 : Int(max(0, min(Int64(count), oldReadable)))
        }
        let isShut = unsafe fade.pointee.gate.rests(at: 0)
        unsafe writeEnvelopes(fade, count: count)
        let offset = Int(frame & Int64(ringFrames &- 1))
        if heard > 0 && !isShut {
            unsafe addTrack(
                player, lane: transport.lane, offset: offset, frames: heard, bus: bus, left: scratch.left,
                right: scratch.right)
        }
        if oldHeard > 0 {
            let oldOffset = Int(transport.oldFrame & Int64(ringFrames &- 1))
            unsafe addTrack(
                player, lane: transport.oldLane, offset: oldOffset, frames: oldHeard, bus: bus,
                left: scratch.oldLeft, right: scratch.oldRight)
        }
        unsafe settle(player, fade, count: count)
    }

    /// Frames that a track must have ahead.
    private var reserve: Int64 {
        @_noLocks get { unsafe lanes[transport.lane].reserve.load(ordering: .relaxed) }
    }

    /// Fades a track out before its data runs out, and in again once there is enough.
    @_noLocks private mutating func watchData(_ slot: Int, count: Int, at now: EngineFrame) {
        let player = unsafe players + slot
        let frame = transport.frame
        let reserve = reserve
        let needed = frame &+ Int64(count) &+ reserve
        if unsafe player.pointee.available < needed || player.pointee.end != .max {
            unsafe player.pointee.refresh(lane: transport.lane)
        }
        let left = unsafe player.pointee.available &- frame
        if unsafe player.pointee.flags.isStarved {
            if transport.isRolling && left >= Int64(count) &+ 2 &* reserve {
                unsafe player.pointee.flags.isStarved = false
                unsafe fades[slot].gate.move(to: 1, over: fadeFrames)
            }
        } else if left < Int64(count) &+ reserve && transport.isRolling {
            unsafe player.pointee.flags.isStarved = true
            unsafe player.pointee.flags.isFading = true
            unsafe fades[slot].part()
            if left <= 0 {
                unsafe fades[slot].gate.jump(to: 0)
            } else {
                unsafe fades[slot].gate.shut(within: min(Int(left), fadeFrames))
            }
            unsafe tell(
                .underrun(
                    SlotID(index: UInt16(truncatingIfNeeded: slot), tenant: player.pointee.tenant), at: now))
        }
    }

    /// The gains of the next `count` frames, for the stream and for the last one.
    @_noLocks private mutating func writeEnvelopes(_ fade: UnsafeMutablePointer<PlayerFades>, count: Int) {
        let crosses = transport.oldFrames > 0
        unsafe writeGates(fade, count: count, crosses: crosses)
        unsafe writeGains(fade.pointee.left, gate: scratch.gate, to: scratch.left, count: count)
        unsafe writeGains(fade.pointee.right, gate: scratch.gate, to: scratch.right, count: count)
        if crosses {
            unsafe writeGains(fade.pointee.left, gate: scratch.oldGate, to: scratch.oldLeft, count: count)
            unsafe writeGains(fade.pointee.right, gate: scratch.oldGate, to: scratch.oldRight, count: count)
        }
    }

    /// The two gates. Tracks start, stop and locate together, so the last track's are mostly this one's too.
    @_noLocks private mutating func writeGates(
        _ fade: UnsafeMutablePointer<PlayerFades>, count: Int, crosses: Bool
    ) {
        let wanted = unsafe GateEnvelope(fade.pointee)
        if scratch.envelope.isSame(as: wanted, crosses: crosses) { return }
        scratch.envelope = wanted
        unsafe fade.pointee.gate.write(to: scratch.gate, count: count)
        guard crosses else { return }
        unsafe fade.pointee.oldGate.write(to: scratch.oldGate, count: count)
        guard unsafe fade.pointee.isNormalised else { return }
        for i in 0..<count {
            let norm = unsafe fade.pointee.norm(scratch.oldGate[i], scratch.gate[i])
            unsafe scratch.oldGate[i] = scratch.oldGate[i] * norm
            unsafe scratch.gate[i] = scratch.gate[i] * norm
        }
    }

    /// What a fader's ramp and a gate make together.
    @_noLocks private func writeGains(
        _ ramp: Ramp, gate: UnsafeMutablePointer<Float>, to gains: UnsafeMutablePointer<Float>, count: Int
    ) {
        if ramp.isMoving {
            unsafe ramp.write(to: gains, count: count)
            unsafe MixKernels.scale(gains, by: gate, count: count)
        } else {
            unsafe MixKernels.multiply(gate, by: ramp.target, into: gains, count: count)
        }
    }

    /// Adds one stream of a track to its bus, channel by channel, and meters it.
    ///
    /// A mono track goes to the bus's first two channels by its two gains; channel c of any other goes to
    /// channel c modulo the bus's channels, even ones by the left gain and odd ones by the right. Into a mono bus
    /// all channels are summed.
    @_noLocks private func addTrack(
        _ player: UnsafeMutablePointer<Player>, lane: Int, offset: Int, frames: Int, bus: PlanBus,
        left: UnsafeMutablePointer<Float>, right: UnsafeMutablePointer<Float>
    ) {
        let channels = unsafe player.pointee.ring.channelCount
        let busChannels = Int(bus.channelCount)
        let source = unsafe UnsafePointer(player.pointee.ring.frame(lane &* ringFrames &+ offset))
        let target = unsafe plan.pointee.buffers + bus.buffer
        let meter = unsafe meters.active + Int(player.pointee.meter)
        if channels == 2 && busChannels == 2 {
            let levels = unsafe MixKernels.addStereo(
                source, to: target, frames: frames, left: left, right: right)
            unsafe meter.note(levels, left: left, right: right, source: source, frames: frames)
            return
        }
        if channels == 1 && busChannels >= 2 {
            for side in 0..<2 {
                unsafe addRamped(
                    source, stride: 1, to: target + side, busStride: busChannels, frames: frames,
                    gains: side == 0 ? left : right, meter: meter + side)
            }
            return
        }
        for c in 0..<channels {
            unsafe addRamped(
                source + c, stride: channels, to: target + c % busChannels, busStride: busChannels,
                frames: frames,
                gains: c & 1 == 0 ? left : right, meter: meter + c)
        }
    }

    @_noLocks @inline(__always)
    private func addRamped(
        _ source: UnsafePointer<Float>, stride: Int, to bus: UnsafeMutablePointer<Float>, busStride: Int,
        frames: Int, gains: UnsafeMutablePointer<Float>, meter: UnsafeMutablePointer<ChannelMeter>
    ) {
        var tally = ChannelTally()
        for i in 0..<frames {
            let x = unsafe source[i &* stride]
            let y = unsafe x * gains[i]
            unsafe bus[i &* busStride] = bus[i &* busStride] + y
            tally.add(before: x, after: y)
        }
        unsafe tally.add(to: meter)
    }

    /// Lets the ramps pass, and sends a track that has come to rest back to the short way.
    @_noLocks private func settle(
        _ player: UnsafeMutablePointer<Player>, _ fade: UnsafeMutablePointer<PlayerFades>, count: Int
    ) {
        unsafe fade.pointee.gate.advance(count)
        unsafe fade.pointee.left.advance(count)
        unsafe fade.pointee.right.advance(count)
        if unsafe player.pointee.flags.isCrossing {
            unsafe fade.pointee.oldGate.advance(count)
            if transport.oldFrames <= count {
                unsafe player.pointee.flags.isCrossing = false
                unsafe fade.pointee.isNormalised = false
            }
        }
        unsafe player.pointee.gainLeft = fade.pointee.left.target
        unsafe player.pointee.gainRight = fade.pointee.right.target
        if unsafe fade.pointee.gate.rests(at: 1) && !fade.pointee.left.isMoving
            && !fade.pointee.right.isMoving
        {
            unsafe player.pointee.flags.isFading = false
        }
    }
}

extension UnsafeMutablePointer where Pointee == ChannelMeter {
    /// Notes a run of stereo frames at constant gains; what lies after the fader follows from what lies before it.
    @_noLocks @inline(__always)
    func note(_ levels: Levels, left: Float, right: Float, source: UnsafePointer<Float>, frames: Int) {
        let peakLeft = levels.peakLeft * left.magnitude
        let peakRight = levels.peakRight * right.magnitude
        unsafe self[0].peakBefore = Swift.max(self[0].peakBefore, levels.peakLeft)
        unsafe self[1].peakBefore = Swift.max(self[1].peakBefore, levels.peakRight)
        unsafe self[0].peak = Swift.max(self[0].peak, peakLeft)
        unsafe self[1].peak = Swift.max(self[1].peak, peakRight)
        unsafe self[0].sumOfSquaresBefore += Double(levels.sumLeft)
        unsafe self[1].sumOfSquaresBefore += Double(levels.sumRight)
        unsafe self[0].sumOfSquares += Double(levels.sumLeft * (left * left))
        unsafe self[1].sumOfSquares += Double(levels.sumRight * (right * right))
        if peakLeft > 1 {
            unsafe self[0].clips &+= MixKernels.countClips(source, stride: 2, count: frames, gain: left)
        }
        if peakRight > 1 {
            unsafe self[1].clips &+= MixKernels.countClips(source + 1, stride: 2, count: frames, gain: right)
        }
    }

    /// Notes a run of stereo frames whose gains move.
    @_noLocks @inline(__always)
    func note(
        _ levels: RampedLevels, left: UnsafePointer<Float>, right: UnsafePointer<Float>,
        source: UnsafePointer<Float>, frames: Int
    ) {
        unsafe self[0].peakBefore = Swift.max(self[0].peakBefore, levels.before.peakLeft)
        unsafe self[1].peakBefore = Swift.max(self[1].peakBefore, levels.before.peakRight)
        unsafe self[0].peak = Swift.max(self[0].peak, levels.after.peakLeft)
        unsafe self[1].peak = Swift.max(self[1].peak, levels.after.peakRight)
        unsafe self[0].sumOfSquaresBefore += Double(levels.before.sumLeft)
        unsafe self[1].sumOfSquaresBefore += Double(levels.before.sumRight)
        unsafe self[0].sumOfSquares += Double(levels.after.sumLeft)
        unsafe self[1].sumOfSquares += Double(levels.after.sumRight)
        if levels.after.peakLeft > 1 {
            unsafe self[0].clips &+= MixKernels.countClips(source, stride: 2, count: frames, gains: left)
        }
        if levels.after.peakRight > 1 {
            unsafe self[1].clips &+= MixKernels.countClips(source + 1, stride: 2, count: frames, gains: right)
        }
    }
}
