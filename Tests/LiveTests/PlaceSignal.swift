import Foundation
import LiveSupport
import TestSupport

/// Clicks, ten a second: which place of the file is heard when can be read back from a recording of it, at whatever rate.
///
/// A phase vocoder moves a click by up to 2.5 ms, and keeps nothing else so well in its place.
struct PlaceSignal {
    let sampleRate: Int
    /// Frames from one click to the next.
    var step: Int { sampleRate / 10 }

    func source(seconds: Int64) -> SignalSource {
        SignalSource(channels: 1, frames: seconds * Int64(sampleRate)) { frame, _ in value(Double(frame)) }
    }

    /// The signal at a place, in frames: half a millisecond of a tone around each multiple of `step`.
    func value(_ place: Double) -> Float {
        let from = (place / Double(step)).rounded() * Double(step)
        let part = (place - from) / Double(sampleRate) / 0.0005
        guard from > 0, part.magnitude < 0.5 else { return 0 }
        return Float(0.7 * cos(.pi * part) * cos(2 * .pi * part))
    }

    /// The samples in which a click is at its highest: what is louder than a tenth of the loudest belongs to one, and is
    /// of the same one within 32 ms.
    func clicks(_ samples: [Float]) -> [Double] {
        // Twice the mean energy over 5 ms.
        let energy = mean(mean(samples.map { Double($0) * Double($0) }))
        let least = 0.1 * (energy.max() ?? 0)
        var list: [Int] = []
        for n in energy.indices where energy[n] > least {
            if let last = list.last, n - last < sampleRate * 32 / 1000 {
                if energy[n] > energy[last] { list[list.count - 1] = n }
            } else {
                list.append(n)
            }
        }
        return list.map(Double.init)
    }

    private func mean(_ values: [Double]) -> [Double] {
        let half = sampleRate * 5 / 2000
        var means = values
        var sum = 0.0
        for n in values.indices {
            sum += values[n]
            if n > 2 * half { sum -= values[n - 2 * half - 1] }
            if n >= half { means[n - half] = max(0, sum) / Double(2 * half + 1) }
        }
        return means
    }
}

/// A line through places that were read back: file frames by heard frames.
private struct PlaceLine {
    let rate: Double
    let offset: Double

    /// The line that comes nearest to `points`, by least squares.
    init(_ points: [(heard: Double, place: Double)]) {
        let count = Double(points.count)
        let (x, y) = (points.reduce(0) { $0 + $1.heard } / count, points.reduce(0) { $0 + $1.place } / count)
        let above = points.reduce(0) { $0 + ($1.heard - x) * ($1.place - y) }
        let below = points.reduce(0) { $0 + ($1.heard - x) * ($1.heard - x) }
        rate = above / below
        offset = y - rate * x
    }

    /// Where the sound went from this line to `next`.
    func meets(_ next: PlaceLine) -> Double { (next.offset - offset) / (rate - next.rate) }
}

/// When changes of a rate were heard.
struct HeardChanges {
    /// For each change the rates before and after it that were heard, and the milliseconds from its call to the sound.
    private(set) var all: [(from: Double, to: Double, milliseconds: Double)] = []

    /// Reads back a recording of `signal` in which the rate was changed at `calls`, in its samples. A second or so of
    /// steady sound lies around each.
    init(_ samples: [Float], of signal: PlaceSignal, calls: [Double]) {
        let clicks = signal.clicks(samples)
        let points = clicks.indices.map { (heard: clicks[$0], place: Double($0 * signal.step)) }
        // What a change takes, and what a stretcher makes of it, is left out.
        let calm = Double(signal.sampleRate) / 3
        let edges = [-calm] + calls + [.infinity]
        let lines = zip(edges, edges.dropFirst()).map { from, to in
            PlaceLine(points.filter { $0.heard > from + calm && $0.heard < to })
        }
        for (k, call) in calls.enumerated() {
            let frames = lines[k].meets(lines[k + 1]) - call
            all.append((lines[k].rate, lines[k + 1].rate, frames / Double(signal.sampleRate) * 1000))
        }
    }

    /// The middle one of their times: one call that the machine held up proves nothing.
    func milliseconds(where isMeant: (_ from: Double, _ to: Double) -> Bool = { _, _ in true }) -> Double {
        let times = all.filter { isMeant($0.from, $0.to) }.map(\.milliseconds).sorted()
        return times.isEmpty ? .infinity : times[times.count / 2]
    }
}
