import RealtimePrimitives
import Synchronization

/// The audio thread's work for one block.
public enum Renderer {
    /// **Render:** renders `frames` frames, at most `RenderState.maximumBlock`, that begin at `engineFrame` into
    /// `outputs`, which hold one channel each and are overwritten.
    ///
    /// When `engineFrame` lies beyond the end of the last block, the server has lost frames: every player skips
    /// the same. It must not lie before it.
    @_noLocks
    public static func render(
        _ state: UnsafeMutablePointer<RenderState>, outputs: UnsafePointer<UnsafeMutablePointer<Float>>,
        outputCount: Int, frames: Int, at engineFrame: Int64
    ) {
        for i in 0..<outputCount { unsafe clear(outputs[i], count: frames) }
        unsafe state.pointee.skip(to: engineFrame)
        unsafe state.pointee.meters.answer()
        unsafe state.pointee.receiveCommands(at: EngineFrame(engineFrame))
        unsafe state.pointee.receiveFaders()
        var done = 0
        while done < frames {
            let now = EngineFrame(engineFrame) + done
            unsafe state.pointee.applyDueCommands(at: now)
            let count = unsafe state.pointee.uniformFrames(from: now, atMost: frames &- done)
            unsafe state.pointee.clearBuses(count)
            unsafe state.pointee.mixPlayers(count, at: now)
            unsafe state.pointee.mixBuses(count, outputs: outputs, outputCount: outputCount, offset: done)
            unsafe state.pointee.advanceTransport(count, to: now + count)
            done &+= count
        }
        unsafe state.pointee.finishBlock(frames, at: engineFrame)
    }

    @_noLocks @inline(__always)
    static func clear(_ samples: UnsafeMutablePointer<Float>, count: Int) {
        for i in 0..<count { unsafe samples[i] = 0 }
    }
}

extension RenderState {
    /// Media that the server lost is skipped by all players alike.
    @_noLocks mutating func skip(to engineFrame: Int64) {
        let lost = engineFrame &- expectedFrame
        expectedFrame = engineFrame
        if lost <= 0 || !transport.isMoving { return }
        tell(.lost(frames: lost, at: EngineFrame(engineFrame)))
        advanceTransport(Int(lost), to: EngineFrame(engineFrame))
    }

    /// How many of the next `limit` frames are alike: no command, no end and no seam between two pages of a ring among them.
    @_noLocks func uniformFrames(from now: EngineFrame, atMost limit: Int) -> Int {
        var count = Int64(limit)
        count = min(count, deferred.nextFrame.value &- now.value)
        if transport.isMoving {
            let lane = unsafe lanes + transport.lane
            count = min(count, framesToSeam(transport.frame))
            count = min(count, frames(to: unsafe lane.pointee.sessionEnd.load(ordering: .acquiring)))
            if transport.isRolling {
                count = min(count, frames(to: unsafe lane.pointee.stopFrame.load(ordering: .acquiring)))
            } else {
                count = min(count, Int64(transport.stopFrames))
            }
        }
        if transport.oldFrames > 0 {
            count = min(count, min(framesToSeam(transport.oldFrame), Int64(transport.oldFrames)))
        }
        return Int(max(count, 1))
    }

    @_noLocks private func frames(to end: Int64) -> Int64 {
        end > transport.frame ? end &- transport.frame : Int64.max
    }

    @_noLocks private func framesToSeam(_ frame: Int64) -> Int64 {
        Int64(TrackRing.pageFrames) &- (frame & Int64(TrackRing.pageFrames &- 1))
    }

    /// Publishes what control may look at.
    @_noLocks mutating func finishBlock(_ frames: Int, at engineFrame: Int64) {
        meters.frames &+= Int64(frames)
        expectedFrame = engineFrame &+ Int64(frames)
        position.write(
            TransportPosition(
                engineFrame: expectedFrame, streamFrame: transport.frame, generation: transport.generation,
                isRolling: transport.isMoving))
    }
}
