import CRubberBand
import Foundation

/// One running stretcher of librubberband in its real-time mode. Nothing else calls the library.
@safe struct RubberBand: ~Copyable {
    private let state: RubberBandState
    /// Frames of silence that go in before the first: half a window.
    let startPad: Int
    /// Frames to drop of what comes out first.
    let startDelay: Int
    /// Frames that the resampler after the stretcher keeps back. It does not delay them: what is taken out lies where it
    /// belongs. 32 at pitch 0, measured, and 27 to 38 at others.
    let keptBack: Int
    /// Frames that must be inside for the first hop: a window.
    let windowFrames: Int

    /// Frames that one call of `feed` may bring, at most.
    static let mostFrames = 8_192

    init(
        engine: StretchEngine, sampleRate: Int, channelCount: Int, timeRatio: Double, pitchScale: Double,
        movesPitch: Bool
    ) throws(StretchError) {
        // Without threads of its own, and every channel by itself: see docs/decisions.md.
        var options = RubberBandOptionProcessRealTime.rawValue | RubberBandOptionThreadingNever.rawValue
        switch engine {
        case .fine: options |= RubberBandOptionEngineFiner.rawValue
        // An attack makes its phases start anew, but from 150 to 1,000 Hz, where held tones would break.
        case .fast: options |= RubberBandOptionTransientsMixed.rawValue
        }
        // The resampler comes after the stretcher for every pitch, so that one hop goes in and comes out at a time.
        let resamples = movesPitch || pitchScale != 1
        if resamples { options |= RubberBandOptionPitchHighConsistency.rawValue }
        keptBack = resamples ? 32 : 0
        unsafe state = rubberband_new(
            UInt32(sampleRate), UInt32(channelCount), RubberBandOptions(options), timeRatio, pitchScale)
        unsafe rubberband_set_max_process_size(state, UInt32(Self.mostFrames))
        startPad = Int(unsafe rubberband_get_preferred_start_pad(state))
        startDelay = Int(unsafe rubberband_get_start_delay(state))
        windowFrames = Int(unsafe rubberband_get_samples_required(state))
        if engine == .fine, unsafe rubberband_get_engine_version(state) < 3 { throw .engineMissing }
    }

    deinit { unsafe rubberband_delete(state) }

    /// Output frames to a source frame, from the next hop on.
    func set(timeRatio: Double) {
        unsafe rubberband_set_time_ratio(state, timeRatio)
    }

    /// Frequency out to frequency in, from the next hop on.
    func set(pitchScale: Double) {
        unsafe rubberband_set_pitch_scale(state, pitchScale)
    }

    /// Frames that can be taken out.
    var available: Int { max(0, Int(unsafe rubberband_available(state))) }

    /// Frames that the next hop lacks.
    var required: Int { Int(unsafe rubberband_get_samples_required(state)) }

    /// Takes frames in, a run of samples a channel, and makes the hops that they allow.
    func feed(_ input: UnsafePointer<UnsafePointer<Float>?>, count: Int) {
        unsafe rubberband_process(state, input, UInt32(count), 0)
    }

    /// Takes up to `count` of the frames that are available out, a run of samples a channel.
    func retrieve(_ output: UnsafePointer<UnsafeMutablePointer<Float>?>, count: Int) -> Int {
        Int(unsafe rubberband_retrieve(state, output, UInt32(count)))
    }
}

/// Rubber Band's two engines, as the program `rubberband` runs them with `--realtime`.
public enum StretchEngine: Hashable, Sendable {
    /// R3, `--fine`. One instance a track: instances on one schedule stay on the same frame.
    case fine
    /// R2, `--fast --bl-transients`, at a third of the price. One instance a group of tracks: several would each go by
    /// the attacks of their own material, and drift apart.
    case fast

    /// The most by which the rate of one hop differs from that of the one before, as a factor. Where a rate jumps from
    /// one end to the other, R3 swells a held tone by 7.6 %, R2 by 5.8 %; at this pace by 3.8 and 2.6 %.
    private var mostStep: Double { self == .fine ? 1.15 : 1.5 }

    /// Frames that a rate takes to go from one value to another: 256, a hop, for each step.
    public func rampFrames(from old: Double, to new: Double) -> Int64 {
        let steps = (log(new / old).magnitude / log(mostStep)).rounded(.up)
        return max(1, Int64(steps)) * RatePath.rampFrames
    }
}
