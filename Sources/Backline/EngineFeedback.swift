import EngineHost
import Glibc
import JackClient
import RenderCore
import Session

extension Engine {
    /// Adds up what the meters read since the last time, if the audio thread has answered.
    func collectMeters() {
        guard let reading = stage.host.collectMeters() else { return }
        sums.add(reading)
        recent.add(reading)
    }

    func tick() {
        stage.host.freeRetiredPlans()
        stage.host.streaming.freeSpent()
        stage.host.sendHeld()
        for notice in stage.host.takeNotices() { hear(notice) }
        for problem in stage.failures() {
            lateProblems.append(problem)
            continuation.yield(.stemFailed(problem))
        }
        watchStretching()
        let xruns = client.xruns
        if xruns > xrunsTold {
            xrunsTold = xruns
            continuation.yield(.xrun(count: xruns))
        }
    }

    func hear(_ notice: Notice) {
        switch notice {
        case .started(let frame):
            let now = stage.host.transportPosition
            let since = now.isRolling ? min(now.streamFrame, max(0, now.engineFrame - frame.value)) : 0
            let place = stage.host.currentMap.position(of: now.streamFrame - since)
            continuation.yield(.started(position: stage.seconds(place)))
        case .stopped(_, let byItself):
            if byItself { hasEnded = true }
            let position = status.position
            continuation.yield(byItself ? .ended(position: position) : .paused(position: position))
        case .ended:
            hasEnded = true
            continuation.yield(.ended(position: status.position))
        case .located(let generation, _):
            if quietStreams.remove(generation) != nil { break }
            let place = locatesUnderWay.removeValue(forKey: generation) ?? locatePosition
            continuation.yield(.located(position: stage.seconds(place)))
        case .underrun(let slot, _):
            underruns += 1
            if let i = stage.tracks.firstIndex(of: slot) {
                let mode = stage.host.stretchMode(of: slot)
                continuation.yield(
                    .underrun(
                        track: stage.session.tracks[i].id,
                        cause: mode.map { .stretching($0 == .fine ? .fine : .fast) } ?? .disk))
                if mode != nil { tellStretching(isLate: true) }
            }
        case .lost(let frames, _): continuation.yield(.lost(frames: frames))
        case .late, .refused: break
        }
    }

    func hear(_ event: JackEvent) {
        switch event {
        case .shutdown(let reason): continuation.yield(.serverGone(reason: reason))
        case .period(let frames):
            stage.host.streaming.setPeriod(frames)
            continuation.yield(.period(frames))
        case .sampleRate, .xrun, .freewheel, .portsChanged, .connectionsChanged: break
        }
    }

    /// Leaves the server and reports what was done. Takes 2 s at most.
    public func close() -> RunReport {
        isClosed = true
        ticker?.cancel()
        tick()
        // Twice: what the audio thread has filled since it was last asked comes with its second answer.
        collectMeters()
        usleep(UInt32(2_000_000 * client.period / sampleRate))
        collectMeters()
        let statistics = client.statistics
        let position = stage.host.transportPosition
        let periodNanoseconds = Double(client.period) / Double(sampleRate) * 1e9
        let report = RunReport(
            frames: framesBefore + position.streamFrame, sampleRate: sampleRate, period: client.period,
            xruns: client.xruns, underruns: underruns, lostFrames: statistics?.lostFrames ?? 0,
            losses: statistics?.jumps ?? 0, callbacks: statistics?.callbacks ?? 0,
            loadMean: (statistics?.cpu.meanNanoseconds ?? 0) / periodNanoseconds,
            loadMaximum: Double(statistics?.cpu.maximumNanoseconds ?? 0) / periodNanoseconds,
            overHalfPeriod: statistics?.cpu.overHalfPeriod ?? 0, lateReadings: statistics?.lateReadings ?? 0,
            reanchorings: statistics?.reanchorings ?? 0,
            lostNotices: Int(stage.host.lostNotices), levels: stage.report(sums.tracks, buses: sums.buses),
            problems: problems + lateProblems)
        client.close()
        stage.host.streaming.stop()
        continuation.finish()
        listener?.cancel()
        return report
    }
}
