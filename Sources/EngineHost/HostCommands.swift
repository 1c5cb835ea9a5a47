import RealtimePrimitives
import RenderCore
import Synchronization

extension RenderHost {
    /// Sends commands that take effect as one at `frame`, or not at all. A frame more than a second ahead is the
    /// caller's to hold back.
    public func send(_ batch: [Command], at frame: EngineFrame = .now) throws(CommandRingFull) {
        for (i, command) in batch.enumerated() {
            sequence &+= 1
            let timed = TimedCommand(command, at: frame, sequence: sequence, continues: i + 1 < batch.count)
            if !commands.stage(timed) {
                commands.discardStaged()
                throw CommandRingFull()
            }
        }
        commands.publish()
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
