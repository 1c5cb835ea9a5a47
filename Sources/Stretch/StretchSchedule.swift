/// The rates and pitches of a stretcher: when they change, and which place of the source every output frame has.
struct StretchSchedule {
    /// What holds from an output frame on.
    struct Setting: Hashable {
        /// Source frames to an output frame.
        var rate: Double
        /// Semitones up.
        var semitones: Double
    }

    private struct Segment {
        var frame: Int64
        var position: SourcePosition
        var setting: Setting
    }

    private struct Change {
        var frame: Int64
        var rate: Double?
        var semitones: Double?
    }

    // Those that output to come lies in; never empty.
    private var segments: [Segment]
    private var pending: [Change] = []
    // The rate that is being gone to, and the most that one hop's differs from the last one's.
    private var target: Double
    private let mostStep: Double
    /// Whether anything has changed since the beginning.
    private(set) var hasChanged = false

    /// A schedule from a place on. A rate goes to its next value by at most a factor of `mostStep` a hop.
    init(frame: Int64, position: SourcePosition, setting: Setting, mostStep: Double) {
        target = setting.rate
        self.mostStep = mostStep
        segments = [Segment(frame: frame, position: position, setting: setting)]
    }

    /// What holds for the hop that is to be made.
    var current: Setting { segments[segments.count - 1].setting }

    /// What will hold when all that is known has come.
    var last: Setting {
        let goal = Setting(rate: target, semitones: current.semitones)
        return pending.reduce(into: goal) { setting, change in
            setting.rate = change.rate ?? setting.rate
            setting.semitones = change.semitones ?? setting.semitones
        }
    }

    mutating func add(frame: Int64, rate: Double?, semitones: Double?) {
        let at = pending.firstIndex { $0.frame > frame } ?? pending.count
        pending.insert(Change(frame: frame, rate: rate, semitones: semitones), at: at)
    }

    /// A hop begins whose centre is output frame `frame`: what is due takes effect there.
    mutating func begin(hopAt frame: Int64, heard: Int64) {
        var setting = current
        while let next = pending.first, next.frame <= frame {
            target = next.rate ?? target
            setting.semitones = next.semitones ?? setting.semitones
            pending.removeFirst()
        }
        setting.rate = min(max(target, setting.rate / mostStep), setting.rate * mostStep)
        guard setting != current else { return }
        hasChanged = true
        segments.append(Segment(frame: frame, position: position(of: frame), setting: setting))
        while segments.count > 1, segments[1].frame <= heard { segments.removeFirst() }
    }

    /// Where an output frame lies: the integral of the rate.
    func position(of frame: Int64) -> SourcePosition {
        let segment = segments.last { $0.frame <= frame } ?? segments[0]
        let moved = Int128(frame - segment.frame) * SourcePosition.increment(segment.setting.rate)
        return SourcePosition(bits: segment.position.bits + moved)
    }

    /// The output frame at which a source of `frameCount` frames ends if the rate stays as it is.
    func endFrame(_ frameCount: Int64) -> Int64 {
        let segment = segments[segments.count - 1]
        let rate = segment.setting.rate
        if segment.position == SourcePosition(outputFrame: segment.frame, rate: rate) {
            return RateRange.outputFrames(of: frameCount, rate: rate)
        }
        let left = Double(frameCount) - segment.position.frames
        return segment.frame + max(0, RateRange.rounded(left / rate))
    }
}
