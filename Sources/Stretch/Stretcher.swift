import Foundation

/// **Streaming:** a source at another rate with its pitch kept, or moved by itself: Rubber Band's real-time mode, one
/// thread at a time.
///
/// Output frame 0 lies on source frame 0, and the whole is the source's length over the rate, rounded half to even:
/// the library's padding and trimming are done here. The same source and the same changes give the same bits, whatever
/// the blocks. So stretchers on one schedule stay on the same frame (``StretchEngine/fine``), and a track and its
/// inverse, turned over after the stretcher, leave nothing.
///
/// A change takes effect at the centre of the next hop (``nextChange``), half a window after what has been taken out.
/// While the rate has never changed, hops are made as the `rubberband` program makes them, to the bit. After a change
/// every hop is fed by itself and steered, so that the sound follows the integral of the rate.
@safe public final class Stretcher {
    /// Samples in a frame.
    public let channelCount: Int
    /// Which of Rubber Band's engines this is.
    public let engine: StretchEngine
    /// Frames a second.
    public let sampleRate: Int

    private let source: any StretchSource
    private let movesPitch: Bool
    private var band: RubberBand
    private var path: RatePath
    private var semitones: Double
    private var pitchChanges: [(frame: Int64, semitones: Double)] = []
    // What it began with, and whether there was ever anything else.
    private var firstRate: Double
    private var hasChanged = false
    private var steering: Steering
    // What the library has been told.
    private var timeRatio: Double
    private var pitchScale: Double
    private let input: Planes
    private let output: Planes
    private let piece: UnsafeMutablePointer<Float>

    // Source frames that have gone in, the pad with them; the place that was begun at.
    private var fed: Int64 = 0
    private var start: Int64 = 0
    // Frames that have been taken out of the library, those to be dropped with them, and where output begins.
    private var taken: Int64 = 0
    private var first: Int64 = 0

    // What the `rubberband` program feeds at a time.
    private static let programFrames = 1_024
    private static let outputFrames = 1_024

    /// A stretcher that begins at the source's frame 0.
    ///
    /// - Parameters:
    ///   - sampleRate: Hz, 8,000 to 192,000.
    ///   - rate: source frames to an output frame, 0.25 to 4.
    ///   - semitones: how far the pitch goes up, −24 to 24.
    ///   - movesPitch: whether the pitch may be changed while it runs. It costs a resampler, and at pitch 0 some of
    ///     what lies above 10 kHz.
    public convenience init(
        _ source: any StretchSource, sampleRate: Int, engine: StretchEngine, rate: Double,
        semitones: Double = 0, movesPitch: Bool = false
    ) throws(StretchError) {
        try RateRange.check(rate: rate)
        try self.init(
            source, sampleRate: sampleRate, engine: engine, path: RatePath(rate: rate), semitones: semitones,
            movesPitch: movesPitch)
    }

    /// A stretcher whose output frames lie where `path` says, from output frame 0 on, which lies at a whole frame of the
    /// source.
    public init(
        _ source: any StretchSource, sampleRate: Int, engine: StretchEngine, path: RatePath,
        semitones: Double = 0, movesPitch: Bool = false
    ) throws(StretchError) {
        let rate = path.rate(of: 0)
        try RateRange.check(rate: rate)
        try RateRange.check(semitones: semitones)
        guard RateRange.sampleRates.contains(sampleRate) else { throw .sampleRate(sampleRate) }
        self.source = source
        self.engine = engine
        self.sampleRate = sampleRate
        self.movesPitch = movesPitch
        channelCount = source.channelCount
        band = try RubberBand(
            engine: engine, sampleRate: sampleRate, channelCount: source.channelCount, timeRatio: 1 / rate,
            pitchScale: Self.scale(semitones), movesPitch: movesPitch)
        (timeRatio, pitchScale) = (1 / rate, Self.scale(semitones))
        self.path = path
        firstRate = rate
        self.semitones = semitones
        start = path.position(of: 0).rounded
        steering = Steering(engine: engine, sampleRate: sampleRate)
        input = Planes(channelCount: source.channelCount, capacity: RubberBand.mostFrames)
        output = Planes(channelCount: source.channelCount, capacity: Self.outputFrames)
        unsafe piece = .allocate(capacity: RubberBand.mostFrames * source.channelCount)
        unsafe piece.initialize(repeating: 0, count: RubberBand.mostFrames * source.channelCount)
    }

    deinit { unsafe piece.deallocate() }

    /// Frequency out to frequency in, in equal temperament.
    private static func scale(_ semitones: Double) -> Double { semitones == 0 ? 1 : exp2(semitones / 12) }

    // MARK: Time

    /// The next output frame.
    public var outputFrame: Int64 { first + max(0, taken - Int64(band.startDelay)) }

    /// Where an output frame lies in the source, from ``outputFrame`` on: the integral of the rate.
    public func position(of frame: Int64) -> SourcePosition { path.position(of: frame) }

    /// The output frame after the last one if the rate stays as it is.
    public var endFrame: Int64 { path.frame(of: source.frameCount) }

    /// The output frame at which a change that is asked for now takes effect: the centre of the next hop.
    ///
    /// Stretchers that are to stay together are given one frame that none of them has passed: the largest of theirs.
    public var nextChange: Int64 { center(after: taken + Int64(band.available)) }

    /// The output frame on which a hop is centred that begins where `raw` frames have come out of the library.
    private func center(after raw: Int64) -> Int64 {
        let half = Int64((Double(band.startPad) / Self.scale(semitones)).rounded())
        return first + raw + half - Int64(band.startDelay) + (raw > 0 ? Int64(band.keptBack) : 0)
    }

    /// Goes to another rate, within `ramp` frames or those that the engine needs, or pitch at output frame `at`, or at ``nextChange`` where that is
    /// later; returns which it is. Changes of the rate for later frames are forgotten. A pitch changes at the first hop
    /// that is centred there or behind it.
    @discardableResult
    public func change(
        rate: Double? = nil, semitones: Double? = nil, at: Int64, over ramp: Int64? = nil
    ) throws(StretchError) -> Int64 {
        let frame = max(at, nextChange)
        if let rate {
            try RateRange.check(rate: rate)
            path.forget(before: outputFrame)
            path.move(
                to: rate, at: frame, over: ramp ?? engine.rampFrames(from: path.rate(of: frame), to: rate))
        }
        if let semitones {
            try RateRange.check(semitones: semitones)
            if !movesPitch, semitones != lastSemitones { throw .fixedPitch }
            pitchChanges.removeAll { $0.frame >= frame }
            pitchChanges.append((frame, semitones))
        }
        return frame
    }

    private var lastSemitones: Double { pitchChanges.last?.semitones ?? semitones }

    /// Begins anew: output frame `outputFrame` is what comes next, and lies at `frame` of the source, at the rate and
    /// pitch that were asked for last.
    public func seek(outputFrame: Int64, frame: Int64) throws(StretchError) {
        let rate = path.rate
        semitones = lastSemitones
        pitchChanges = []
        path = RatePath(rate: rate, frame: outputFrame, position: SourcePosition(frame: frame))
        try begin(at: outputFrame, rate: rate)
        start = frame
    }

    /// Begins anew at output frame `outputFrame` of its path, for which ``nextChange`` does not hold: what was to come is
    /// given up. Where the path is between two frames of the source, it begins at the nearest.
    public func restart(at outputFrame: Int64) throws(StretchError) {
        path.forget(before: outputFrame)
        let rate = path.rate(of: outputFrame)
        while let next = pitchChanges.first, next.frame <= outputFrame {
            semitones = next.semitones
            pitchChanges.removeFirst()
        }
        try begin(at: outputFrame, rate: rate)
        start = path.position(of: outputFrame).rounded
    }

    private func begin(at outputFrame: Int64, rate: Double) throws(StretchError) {
        band = try RubberBand(
            engine: engine, sampleRate: sampleRate, channelCount: channelCount, timeRatio: 1 / rate,
            pitchScale: Self.scale(semitones), movesPitch: movesPitch)
        (timeRatio, pitchScale) = (1 / rate, Self.scale(semitones))
        (firstRate, hasChanged) = (rate, false)
        steering = Steering(engine: engine, sampleRate: sampleRate)
        (fed, taken, first) = (0, 0, outputFrame)
    }

    // MARK: Sound

    /// Makes the next up to `count` frames, interleaved; fewer only at the end.
    ///
    /// Throws what the source throws. What came before that is in `output`, up to ``outputFrame``.
    public func process(into output: UnsafeMutablePointer<Float>, count: Int) throws -> Int {
        var made = 0
        while made < count {
            let available = band.available
            if available == 0 {
                if outputFrame >= endFrame { break }
                try feed()
                continue
            }
            let dropping = Int64(band.startDelay) - taken
            let left = dropping > 0 ? dropping : min(Int64(count - made), endFrame - outputFrame)
            if left <= 0 { break }
            let n = unsafe band.retrieve(
                self.output.output, count: min(available, Int(clamping: left), Self.outputFrames))
            taken += Int64(n)
            if dropping > 0 { continue }
            unsafe self.output.read(output + made * channelCount, count: n)
            made += n
        }
        return made
    }

    /// Brings in what the next hop lacks; nothing is waiting to be taken out.
    private func feed() throws {
        let required = band.required
        let frame = center(after: taken)
        while let next = pitchChanges.first, next.frame <= frame {
            if next.semitones != semitones { hasChanged = true }
            semitones = next.semitones
            pitchChanges.removeFirst()
        }
        // What it is on average until the next hop, about.
        let rate = path.rate(from: frame, over: RatePath.rampFrames)
        if rate != firstRate { hasChanged = true }
        let asProgram = engine == .fine && !hasChanged && !steering.isNeeded
        let count = asProgram ? Self.programFrames : required
        try load(count)

        // Where the hop is centred in the source.
        let center = start + fed + Int64(required - band.windowFrames)
        steer(late: (path.position(of: frame).frames - Double(center)) / rate, rate: rate)
        unsafe band.feed(input.input, count: count)
        fed += Int64(count)
    }

    private func steer(late: Double, rate: Double) {
        let scale = Self.scale(semitones)
        if scale != pitchScale {
            band.set(pitchScale: scale)
            pitchScale = scale
        }
        let ratio = steering.ratio(
            1 / rate, late: late, lead: Double(band.startPad) / 2, pitch: scale, hasChanged: hasChanged)
        if ratio != timeRatio {
            band.set(timeRatio: ratio)
            timeRatio = ratio
        }
    }

    /// Has the next `count` frames of the source ready, silence outside it.
    private func load(_ count: Int) throws {
        let from = start + fed - Int64(band.startPad)
        let before = Int(min(Int64(count), max(0, -from)))
        let wanted = Int(min(Int64(count - before), max(0, source.frameCount - max(0, from))))
        let read = wanted == 0 ? 0 : try unsafe source.read(from: max(0, from), into: piece, count: wanted)
        unsafe input.write(nil, at: 0, count: before)
        unsafe input.write(piece, at: before, count: read)
        unsafe input.write(nil, at: before + read, count: count - before - read)
    }
}
