public import RenderCore
import Stretch

/// A track's own rate.
public struct TrackRate: Hashable, Sendable {
    /// How a track keeps time when its rate is not 1.
    public enum Mode: Hashable, Sendable {
        /// The pitch stays: Rubber Band R3, one stretcher a track.
        case fine
        /// The pitch stays, at a third of the price: Rubber Band R2, one stretcher for all tracks of one rate and pitch.
        case fast
        /// The pitch follows the rate, as on a tape machine.
        case tape
    }

    /// Media frames to a timeline frame, 0.5 to 2.
    public var rate: Double
    /// How it keeps time.
    public var mode: Mode
    /// How far the pitch goes up, −12 to 12; nothing in mode `tape`.
    public var semitones: Double

    /// A rate; by default the media's own.
    public init(rate: Double = 1, mode: Mode = .fine, semitones: Double = 0) {
        self.rate = rate
        self.mode = mode
        self.semitones = semitones
    }

    /// What it sounds like beside a session's rate.
    func sounding(_ sessionRate: Double) -> SoundingRate {
        SoundingRate(rate: rate * sessionRate, semitones: mode == .tape ? 0 : semitones)
    }
}

/// The rates of a session and of all its tracks.
public struct Rates: Hashable, Sendable {
    /// Timeline frames to an output frame, 0.5 to 2.
    public var session: Double
    /// Those of tracks that are not the usual.
    public var tracks: [SlotID: TrackRate]

    /// By default everything plays at its own rate.
    public init(session: Double = 1, tracks: [SlotID: TrackRate] = [:]) {
        self.session = session
        self.tracks = tracks
    }

    /// The rate of the track in `slot`.
    public subscript(slot: SlotID) -> TrackRate { tracks[slot] ?? TrackRate() }
}

/// What comes of a track's rate and its session's.
struct SoundingRate: Hashable, Sendable {
    /// Media frames to an output frame.
    var rate: Double
    /// How far the pitch goes up.
    var semitones: Double

    /// Whether the media's own frames are heard.
    var isPlain: Bool { rate == 1 && semitones == 0 }
}

/// Which tracks one voice plays, and how.
struct VoiceShape: Hashable, Sendable {
    /// What makes the frames.
    enum Maker: Hashable, Sendable {
        case plain
        case tape
        case stretch(StretchEngine, movesPitch: Bool)
    }

    var maker: Maker
    var slots: [SlotID]

    /// The shapes in which `slots` play at `rates`: a voice a track, but one for all tracks of a rate and pitch in
    /// mode `fast`.
    static func shapes(of slots: [SlotID], at rates: Rates) -> [VoiceShape] {
        var shapes: [VoiceShape] = []
        var groups: [SoundingRate: Int] = [:]
        for slot in slots {
            let rate = rates[slot]
            let sounding = rate.sounding(rates.session)
            if sounding.isPlain {
                shapes.append(VoiceShape(maker: .plain, slots: [slot]))
                continue
            }
            let movesPitch = sounding.semitones != 0
            switch rate.mode {
            case .tape: shapes.append(VoiceShape(maker: .tape, slots: [slot]))
            case .fine:
                shapes.append(VoiceShape(maker: .stretch(.fine, movesPitch: movesPitch), slots: [slot]))
            case .fast:
                if let group = groups[sounding] {
                    shapes[group].slots.append(slot)
                } else {
                    groups[sounding] = shapes.count
                    shapes.append(VoiceShape(maker: .stretch(.fast, movesPitch: movesPitch), slots: [slot]))
                }
            }
        }
        return shapes
    }

    /// Whether a voice of this shape that plays at `old` can go on to `new`.
    func canGo(from old: Rates, to new: Rates) -> Bool {
        let goals = Set(slots.map { new[$0].sounding(new.session) })
        guard let goal = goals.first, goals.count == 1 else { return false }
        switch maker {
        case .plain:
            return goal.isPlain && slots.allSatisfy { old[$0].rate == new[$0].rate }
        case .tape: return slots.allSatisfy { new[$0].mode == .tape }
        case .stretch(let engine, let movesPitch):
            let mode: TrackRate.Mode = engine == .fine ? .fine : .fast
            return slots.allSatisfy { new[$0].mode == mode } && (movesPitch || goal.semitones == 0)
        }
    }

    /// Frames that a rate takes to go from one value to another.
    func rampFrames(from old: Double, to new: Double) -> Int64 {
        switch maker {
        case .plain: 0
        case .tape: RatePath.rampFrames
        case .stretch(let engine, _): engine.rampFrames(from: old, to: new)
        }
    }
}
