import Glibc

/// A gain on a logarithmic scale, relative to full amplitude.
struct Decibels {
    let value: Double

    /// The factor for amplitudes: 10^(dB / 20).
    var linearGain: Double { pow(10, value / 20) }
}
