import Foundation
import Testing

/// Expects two signals to have the same bits, and names the first place where they have not.
public func expectIdentical(
    _ actual: [Float], _ expected: [Float], _ what: String = "",
    sourceLocation: SourceLocation = #_sourceLocation
) {
    if actual.count != expected.count {
        Issue.record(
            "\(what) lengths differ: \(actual.count), expected \(expected.count)",
            sourceLocation: sourceLocation)
    }
    if haveSameBits(actual, expected) { return }
    for i in 0..<min(actual.count, expected.count) where actual[i].bitPattern != expected[i].bitPattern {
        // Both zeros are silence.
        if actual[i] == 0 && expected[i] == 0 { continue }
        Issue.record(
            "\(what) first differ at sample \(i): \(actual[i]), expected \(expected[i])",
            sourceLocation: sourceLocation)
        return
    }
}

/// One comparison of memory, which is fast in a debug build too.
private func haveSameBits(_ a: [Float], _ b: [Float]) -> Bool {
    unsafe a.count == b.count
        && a.withUnsafeBytes { a in
            unsafe b.withUnsafeBytes { b in
                unsafe a.count == 0 || memcmp(a.baseAddress!, b.baseAddress!, a.count) == 0
            }
        }
}

/// The peak of a signal in dB below full scale; −infinity for silence.
public func peakDecibels(_ samples: some Sequence<Float>) -> Double {
    20 * log10(Double(samples.reduce(0) { max($0, $1.magnitude) }))
}

/// Expects the difference of two signals to stay below `decibels` of full scale.
public func expectNull(
    _ actual: [Float], _ expected: [Float], below decibels: Double, _ what: String = "",
    sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(actual.count == expected.count, "\(what) lengths", sourceLocation: sourceLocation)
    let difference = zip(actual, expected).map { $0 - $1 }
    let level = peakDecibels(difference)
    #expect(level < decibels, "\(what) differ by \(level) dB", sourceLocation: sourceLocation)
}

/// The largest step between neighbouring samples.
public func largestStep(_ samples: [Float]) -> Float {
    zip(samples, samples.dropFirst()).reduce(0) { max($0, ($1.1 - $1.0).magnitude) }
}

/// A signal through a linear-phase high-pass at `cutoff` hertz: a windowed sinc of 511 taps under a Blackman-Harris
/// window, its ends left out.
public func highPass(_ samples: [Float], cutoff: Double, sampleRate: Double = 48_000) -> [Float] {
    let half = 255
    let fc = cutoff / sampleRate
    var taps = (-half...half).map { n -> Double in
        let x = Double(n + half) / Double(2 * half)
        let window =
            0.35875 - 0.48829 * cos(2 * .pi * x) + 0.14128 * cos(4 * .pi * x) - 0.01168 * cos(6 * .pi * x)
        let sinc = n == 0 ? 2 * fc : sin(2 * .pi * fc * Double(n)) / (.pi * Double(n))
        return sinc * window
    }
    let sum = taps.reduce(0, +)
    for i in taps.indices { taps[i] = -taps[i] / sum }
    taps[half] += 1
    guard samples.count > 2 * half else { return [] }
    let input = samples.map(Double.init)
    return (half..<samples.count - half).map { center in
        var total = 0.0
        for k in 0...2 * half { total += taps[k] * input[center - half + k] }
        return Float(total)
    }
}
