import CRubberBand

/// One running stretcher of librubberband in its real-time mode. Nothing else calls the library.
@safe struct RubberBand: ~Copyable {
    private let state: RubberBandState
    /// Frames of silence that go in before the first: half a window.
    let startPad: Int
    /// Frames to drop of what comes out first.
    let startDelay: Int
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
        if engine == .fine { options |= RubberBandOptionEngineFiner.rawValue }
        // The resampler comes after the stretcher for every pitch, so that one hop goes in and comes out at a time.
        if movesPitch || pitchScale != 1 { options |= RubberBandOptionPitchHighConsistency.rawValue }
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

/// Rubber Band's two engines.
public enum StretchEngine: Hashable, Sendable {
    /// R3. One instance a track: instances on one schedule stay on the same frame.
    case fine
    /// R2, at a third of the price. One instance a group of tracks: several would drift apart.
    case fast
}
