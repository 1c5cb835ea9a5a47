import Foundation
import LiveSupport
import RenderCore
import Testing

/// Compares what was captured of `play` with what `render` wrote, where the server loses time: callback by callback,
/// and every difference must be one that the programs' own frame counters recorded.
///
/// - A **gap**: from one callback on the music is further by exactly what `play` told to be lost, in the order in
///   which it told it; and the capture's frame counter went on by the same. Where the capture's went on by more, the
///   capturing program missed whole cycles that `play` did render, and the music is further by these too; where it
///   stood still, the program was called twice in one cycle, and the music is as much behind.
/// - A **torn** callback: the capturing program itself came late, read the time of a cycle that was not its own, and
///   found that cycle's buffer cleared or half written. Its frame counter says so, in that very callback; the music
///   before and after it is where it was to be. The callback right behind it may be torn too, and the one at the
///   edge of a gap that the counter recorded: the cycle that was lost may have been half written when the next one
///   read it.
struct GapCheck {
    /// How much later the music was at each gap, in order.
    private(set) var gaps: [Int] = []
    private(set) var tornCallbacks = 0
    /// Frames that `play` rendered and the capturing program was not called for, less those that it was called for
    /// twice.
    private(set) var unheard = 0
    /// What happened, a line each.
    private(set) var log: [String] = []
    /// What should not have happened.
    private(set) var faults: [String] = []

    private let capture: Capture
    private let expected: [[Float]]
    /// Frames of the music.
    private let length: Int
    private let losses: [Int]
    /// For each callback its first kept sample, how far its JACK frame is beyond that, and how far time really was.
    private let starts: [Int]
    private let deviations: [Int]
    private let baselines: [Int]

    private let comparesCounters: Bool

    /// How many callbacks apart the two programs may notice the same loss.
    private static let neighbours = 8

    /// Checks `capture` against `expected`, a channel each, and `losses` that were told, in frames; time was taken up
    /// anew `reanchorings` times.
    ///
    /// `comparesCounters` is false where the counter is known to move without a loss, as a change of period moves it.
    init(
        _ capture: Capture, expected: [[Float]], losses: [Int], reanchorings: Int,
        comparesCounters: Bool = true
    ) {
        self.comparesCounters = comparesCounters
        self.capture = capture
        // Silence behind the end is expected too.
        length = expected.map(\.count).max() ?? 0
        self.expected = expected.map {
            $0 + Array(repeating: 0, count: capture.channels[0].count + losses.reduce(0, +))
        }
        self.losses = losses
        var starts: [Int] = []
        var deviations: [Int] = []
        var sample = 0
        var previous = JackFrame(0)
        var time = 0
        for callback in capture.callbacks {
            time += starts.isEmpty ? 0 : Int(callback.jackFrame - previous)
            previous = callback.jackFrame
            starts.append(sample)
            deviations.append(time - sample)
            sample += callback.frames
        }
        var baselines = deviations
        for k in baselines.indices.dropLast().reversed() {
            baselines[k] = min(baselines[k], baselines[k + 1])
        }
        self.starts = starts
        self.deviations = deviations
        self.baselines = baselines
        check(reanchorings: reanchorings)
    }

    /// Whether callback `k` read the time of another cycle, or comes right behind one that did: two cycles then ran into
    /// each other.
    private func isLate(_ k: Int) -> Bool {
        (max(0, k - 1)...k).contains { deviations[$0] > baselines[$0] || capture.callbacks[$0].wasOvertaken }
    }

    /// Whether the capture's own counter lost time just before callback `k`: the edge of a gap.
    private func isAtGap(_ k: Int) -> Bool {
        k > 0 && baselines[k] > baselines[k - 1]
    }

    /// Whether the capture's own counter lost nothing around callback `k`.
    private func isCalm(_ k: Int) -> Bool {
        k >= Self.neighbours && k + Self.neighbours < starts.count
            && baselines[k - Self.neighbours] == baselines[k + Self.neighbours]
    }

    private func isSame(_ k: Int, media: Int) -> Bool {
        let count = capture.callbacks[k].frames
        guard media >= 0 else { return false }
        return capture.channels.indices.allSatisfy { channel in
            unsafe capture.channels[channel].withUnsafeBytes { heard in
                unsafe expected[channel].withUnsafeBytes { meant in
                    unsafe memcmp(
                        heard.baseAddress! + starts[k] * 4, meant.baseAddress! + media * 4, count * 4) == 0
                }
            }
        }
    }

    private func isSilent(_ k: Int) -> Bool {
        let range = starts[k]..<starts[k] + capture.callbacks[k].frames
        return capture.channels.allSatisfy { $0[range].allSatisfy { $0 == 0 } }
    }

    /// How much time the capture's own counter has lost since callback `first` and up to just after callback `k`.
    private func mostGap(_ k: Int, since first: Int) -> Int {
        deviations[k..<min(k + Self.neighbours, deviations.count)].max()! - baselines[first]
    }

    /// How much the capture's own counter has gone back in the last callbacks before `k`: for so long it was called
    /// in cycles that it had been called in before.
    private func mostRepeated(_ k: Int) -> Int {
        deviations[max(0, k - Self.neighbours)...k].max()! - deviations[k]
    }

    /// What makes the music go on to where callback `k` is: the next losses that were told, and cycles that the
    /// capture missed or was called in twice, as far as its counter admits them.
    private func jump(_ k: Int, media: Int, told: ArraySlice<Int>, most: Int) -> (
        frames: Int, losses: Int, unheard: Int
    )? {
        let period = max(1, capture.callbacks[k].frames)
        let missed = 0...max(0, min(most / period, 64))
        let repeated = stride(from: -1, through: -mostRepeated(k) / period, by: -1)
        for cycles in Array(missed) + Array(repeated) {
            // Losses that fell on torn callbacks moved nothing.
            for absorbed in 0...min(tornCallbacks, told.count) {
                for count in absorbed...min(absorbed + 4, told.count) {
                    let frames =
                        told[..<(told.startIndex + count)].dropFirst(absorbed).reduce(0, +) + cycles * period
                    if frames != 0 && isSame(k, media: media + frames) {
                        return (frames, count, cycles * period)
                    }
                }
            }
        }
        return nil
    }

    private func unexplained(_ k: Int, media: Int) -> String {
        let neighbours = max(0, k - 4)..<min(starts.count, k + 5)
        let period = capture.callbacks[k].frames
        let places = stride(from: -64 * period, through: 64 * period, by: period).filter {
            isSame(k, media: media + $0)
        }
        return
            "the callback at JACK frame \(capture.callbacks[k].jackFrame.value) differs, and nobody recorded a"
            + " gap; around it JACK's frames are off by \(neighbours.map { deviations[$0] - baselines[k] }), it is"
            + (isSilent(k) ? " silent" : places.isEmpty ? " not of the music" : " the music at \(places)")
    }

    /// The first callback that plays the music, and where it is in the music: at its beginning, unless a torn
    /// callback hides that.
    private func anchor() -> (callback: Int, media: Int)? {
        guard let first = capture.callbacks.indices.first(where: { !isSilent($0) }) else { return nil }
        for k in first..<min(first + 4, starts.count) {
            for before in max(0, first - 4)...k where isSame(k, media: starts[k] - starts[before]) {
                return (k, starts[k] - starts[before])
            }
        }
        return nil
    }

    private mutating func check(reanchorings: Int) {
        guard let (first, media) = anchor() else {
            faults.append("the music's beginning was not heard")
            return
        }
        var skipped = media - starts[first]
        var told = losses[...]
        var base: Int?
        var takenUpAnew = 0
        var lastChange = first
        for k in first..<starts.count {
            if !isSame(k, media: starts[k] + skipped) {
                if let jump = jump(k, media: starts[k] + skipped, told: told, most: mostGap(k, since: first))
                {
                    told = told.dropFirst(jump.losses)
                    skipped += jump.frames
                    unheard += jump.unheard
                    gaps.append(jump.frames)
                    log.append(
                        "gap of \(jump.frames) frames at JACK frame \(capture.callbacks[k].jackFrame.value)"
                            + (jump.unheard != 0 ? ", \(jump.unheard) of them only in the capture" : ""))
                    lastChange = k
                } else if isLate(k) || isAtGap(k) {
                    tornCallbacks += 1
                    lastChange = k
                    log.append(
                        "torn callback at JACK frame \(capture.callbacks[k].jackFrame.value), read"
                            + " \(deviations[k] - baselines[k]) frames late")
                } else {
                    faults.append(unexplained(k, media: starts[k] + skipped))
                    return
                }
            }
            // Silence does not tell where it is.
            if starts[k] + skipped >= length { continue }
            guard comparesCounters, isCalm(k), k - lastChange > Self.neighbours else { continue }
            let offset = baselines[k] - skipped
            if let known = base, known != offset {
                takenUpAnew += 1
                if takenUpAnew > reanchorings {
                    faults.append(
                        "from JACK frame \(capture.callbacks[k].jackFrame.value) on the two programs lost"
                            + " different times: by \(offset - known) frames")
                    return
                }
            }
            base = offset
        }
    }
}
