import RealtimePrimitives
import RenderCore
import Synchronization

extension RenderHost {
    /// Sends commands that take effect as one at `frame`, or not at all.
    ///
    /// What lies more than a second ahead, or what the audio thread's store of commands for later has no room
    /// for, is held back until `sendHeld`.
    public func send(_ batch: [Command], at frame: EngineFrame = .now) throws(CommandRingFull) {
        let timed = batch.enumerated().map { i, command in
            sequence &+= 1
            return TimedCommand(command, at: frame, sequence: sequence, continues: i + 1 < batch.count)
        }
        // Nothing overtakes what was sent for the same frame before it.
        let isBehindHeld = !frame.isNow && held.first.map { $0.frame <= frame } ?? false
        guard isBehindHeld || mustHold(timed.count, at: frame) else { return try write(timed, at: frame) }
        let place = held.firstIndex { frame < $0.frame } ?? held.count
        held.insert(HeldBatch(frame: frame, commands: timed), at: place)
    }

    /// Sends what was held back and is due within a second. A few times a second.
    public func sendHeld() {
        while let first = held.first, !mustHold(first.commands.count, at: first.frame) {
            guard (try? write(first.commands, at: first.frame)) != nil else { return }
            held.removeFirst()
        }
    }

    private func mustHold(_ count: Int, at frame: EngineFrame) -> Bool {
        let now = transportPosition.engineFrame
        if frame.value <= now { return false }
        sentAhead.removeAll { $0.value < now }
        return frame.value > now + Int64(configuration.sampleRate)
            || sentAhead.count + count > RenderState.deferredCapacity && !sentAhead.isEmpty
    }

    private func write(_ batch: [TimedCommand], at frame: EngineFrame) throws(CommandRingFull) {
        for timed in batch where !commands.stage(timed) {
            commands.discardStaged()
            throw CommandRingFull()
        }
        commands.publish()
        if frame.value >= transportPosition.engineFrame { sentAhead += batch.map { _ in frame } }
    }

    /// Moves a track's fader by hand: effective at the next block, however often it is called in between.
    public func moveFader(of track: SlotID, left: Float, right: Float) {
        sequence &+= 1
        var fader = unsafe LatestWriter(memory.trackFaders + Int(track.index))
        fader.write(FaderGains(left: left, right: right, sequence: sequence, tenant: track.tenant))
        unsafe state.pointee.faderNews.wrappingAdd(1, ordering: .releasing)
    }

    /// Moves a bus's fader by hand.
    public func moveFader(ofBus bus: SlotID, left: Float, right: Float) {
        sequence &+= 1
        var fader = unsafe LatestWriter(memory.busFaders + Int(bus.index))
        fader.write(FaderGains(left: left, right: right, sequence: sequence, tenant: bus.tenant))
        unsafe state.pointee.faderNews.wrappingAdd(1, ordering: .releasing)
    }
}

/// Commands that are more than a second ahead.
struct HeldBatch {
    var frame: EngineFrame
    var commands: [TimedCommand]
}
