import Foundation
import Session

/// Linear gains towards the left (even) and the right (odd) channels of a bus.
struct SideGains: Equatable {
    var left: Float
    var right: Float

    static let silence = SideGains(left: 0, right: 0)
}

/// The laws by which volume, pan, mute, solo and invert become gains.
enum Balance {
    /// A track's gains into a bus.
    ///
    /// A mono track into two channels or more pans with constant power, −3 dB at the centre: cos and sin of
    /// (pan + 1)·π/4. Any other track into a stereo bus balances: unity at the centre, and the far side falls
    /// linearly to 0. Elsewhere pan has no meaning.
    static func trackGains(
        gain: Double, pan: Double, inverts: Bool, trackChannels: Int, busChannels: Int
    ) -> SideGains {
        let sign = inverts ? -1.0 : 1.0
        let volume = sign * clamp(gain, 0, 100)
        let pan = clamp(pan, -1, 1)
        if trackChannels == 1 && busChannels >= 2 {
            let angle = (pan + 1) * .pi / 4
            return SideGains(left: Float(volume * cos(angle)), right: Float(volume * sin(angle)))
        }
        return balanced(volume, pan, isStereo: busChannels == 2)
    }

    /// A bus's gains: balance for a stereo bus.
    static func busGains(gain: Double, pan: Double, channels: Int) -> SideGains {
        balanced(clamp(gain, 0, 100), clamp(pan, -1, 1), isStereo: channels == 2)
    }

    private static func balanced(_ volume: Double, _ pan: Double, isStereo: Bool) -> SideGains {
        guard isStereo else { return SideGains(left: Float(volume), right: Float(volume)) }
        return SideGains(left: Float(volume * min(1, 1 - pan)), right: Float(volume * min(1, 1 + pan)))
    }

    /// A value held in its range; one that is not finite counts as the range's lower end.
    static func clamp(_ value: Double, _ low: Double, _ high: Double) -> Double {
        value.isFinite ? min(max(value, low), high) : low
    }

    /// Which tracks are heard: solo in place.
    ///
    /// Solo silences tracks, never buses: so all that a soloed track goes through, and every return, stays audible.
    /// While anything is soloed a track is heard if it is soloed itself, if a bus on its way is, or if it leads into
    /// a `soloSafe` bus, which solo does not touch.
    static func audibleTracks(of session: Session) -> [Bool] {
        let buses = Dictionary(session.buses.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let isAnySoloed = session.tracks.contains(where: \.solo) || session.buses.contains(where: \.solo)
        return session.tracks.map { track in
            if track.mute { return false }
            if !isAnySoloed || track.solo { return true }
            var next: String? = track.output
            var steps = 0
            while let id = next, let bus = buses[id], steps < buses.count {
                if bus.solo || bus.soloSafe { return true }
                next = bus.output
                steps += 1
            }
            return false
        }
    }
}
