import EngineHost
import Foundation
import RenderCore
import Session
import Synchronization

/// How much of the machine stretching takes, looked at once a second.
struct StretchWatch {
    /// The part of all processors beyond which rates may be heard late.
    static let mostLoad = 0.6
    /// How long rates must have stood still for a stream to be taken up by one that needs less.
    static let rest = Duration.milliseconds(250)

    private var lastLook = ContinuousClock.now
    private var lastNanoseconds: Int64 = 0
    /// How long nothing is told again.
    static let silence = Duration.seconds(30)

    /// When it was told last that stretching takes too much.
    var lastTold: ContinuousClock.Instant?

    /// The part of all processors that stretching has taken since the last look; nil until a second has passed.
    mutating func load(_ nanoseconds: Int64) -> Double? {
        let now = ContinuousClock.now
        let passed = Double((now - lastLook) / .nanoseconds(1))
        guard passed >= 1e9 else { return nil }
        let taken = Double(nanoseconds - lastNanoseconds)
        (lastLook, lastNanoseconds) = (now, nanoseconds)
        return taken / passed / Double(ProcessInfo.processInfo.activeProcessorCount)
    }
}

extension Engine {
    /// Takes stretchers out that are not needed any more, and tells when they need too much.
    func watchStretching() {
        let nanoseconds = stage.host.streaming.stretchNanoseconds.load(ordering: .relaxed)
        if let load = stretchWatch.load(nanoseconds), load > StretchWatch.mostLoad {
            tellStretching(isLate: false)
        }
        if !isLocating, stage.host.canSettle, .now - ratesChanged > StretchWatch.rest { takeUp() }
    }

    /// Tells, not more often than twice a minute, that stretching takes too much, and what takes less.
    func tellStretching(isLate: Bool) {
        if let last = stretchWatch.lastTold, .now - last < StretchWatch.silence { return }
        stretchWatch.lastTold = .now
        let fine = stage.session.tracks.indices.filter {
            stage.host.stretchMode(of: stage.tracks[$0]) == .fine
        }
        let what =
            isLate
            ? "stretching does not keep up on this machine"
            : "stretching takes more than \(Int(StretchWatch.mostLoad * 100)) % of this machine, and may not keep up"
        let mend =
            fine.isEmpty
            ? "stretch fewer tracks, or choose \"rateMode\": \"tape\""
            : "choose \"rateMode\": \"fast\", which takes a third, for \(fine.count == 1 ? "the track" : "some of the \(fine.count) tracks") in \"fine\""
        continuation.yield(.notice("\(what); \(mend)"))
    }
}
