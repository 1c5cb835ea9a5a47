import RealtimePrimitives
import RenderCore
public import Stretch
import Synchronization

/// A stream that is primed and can be gone to.
public struct PrimedStream: Sendable {
    /// What tells it from all others.
    public let generation: UInt32
    /// Where it lies on the timeline.
    public let map: StreamMap
    /// How many frames it has up to the last sound; nil when it never ends.
    public let frameCount: Int64?
    let lane: Int

    /// The command that crosses over to it.
    public var locate: Command { .locate(lane: UInt8(lane), generation: generation) }
}

extension RenderHost {
    /// Whether the lane for the next stream is free; it is not while a crossover is under way, or while a stream
    /// that is primed has not been gone to yet.
    public var canPrime: Bool {
        let next = 1 - lane
        return unsafe lanes[next].released.load(ordering: .acquiring) == laneGenerations[next]
    }

    /// Whether the stream that sounds has enough ahead to go on while another is primed, for which it is fed no more:
    /// a quarter of a second. One that was gone to a moment ago has not. What is stretched is fed on.
    public var canBeLeft: Bool {
        !transportPosition.isRolling || streaming.hasData(configuration.sampleRate / 4)
    }

    /// Primes the stream of `map` for all tracks, at `rates`, and calls `whenReady` on a streaming thread once each track
    /// has enough to be gone to. `canPrime` must be true, or the last primed stream not sent yet: it is replaced.
    ///
    /// The transport will stop by itself, with a fade, at the timeline position `stop` or after `stopFrames` frames,
    /// whichever comes first of those that are given, and without one where the last sound of all tracks ends. `frame` is
    /// when the stream will be gone to, if that is known: what sounds then is compared with it, to choose the law of the
    /// crossover. `period` is the longest block that is to be expected.
    ///
    /// A map that `mapGoingOn` made takes the current stream up: each track's media go on where they are.
    public func prime(
        _ map: StreamMap, rates: Rates? = nil, stop: Int64? = nil, stopFrames: Int64? = nil,
        at frame: EngineFrame = .now, period: Int = RenderState.maximumBlock,
        whenReady: @escaping @Sendable () -> Void
    ) -> PrimedStream {
        generation &+= 1
        let next = 1 - lane
        let rates = rates ?? self.rates
        let map = map.at(rate: rates.session)
        let old = map.takenUp == nil ? nil : streams[laneGenerations[lane]]
        var courses: [UInt16: Course] = [:]
        for (index, entry) in tracks {
            let rate = rates[entry.feed.slot]
            let beginning = map.takenUp.flatMap { frame in
                old?.courses[index]?.beginning(at: frame, clips: entry.feed.stream.clips)
            }
            courses[index] = Course(
                place: map.place, loop: map.loop, rate: rate.rate,
                sounding: rate.sounding(rates.session).rate,
                begun: beginning)
        }
        let slots = tracks.keys.sorted().map { tracks[$0]!.feed.slot }
        let shapes = VoiceShape.shapes(of: slots, at: rates)
        let voices = shapes.map { shape in
            voice(shape, courses: shape.slots.map { courses[$0.index]! }, rates: rates, lane: next, from: 0)
        }
        let plain = Set(
            (streams[laneGenerations[lane]]?.voices ?? []).filter(\.isPlain).flatMap(\.shape.slots))
        for voice in voices where voice.isPlain && plain.isSuperset(of: voice.shape.slots) {
            voice.isCompared = true
        }
        streams[generation] = HostStream(
            map: map, rates: rates, courses: courses, voices: voices, stop: stop, stopFrames: stopFrames)
        let isStretched = voices.contains { !$0.isPlain }
        unsafe lanes[next].reserve.store(
            Int64(
                isStretched
                    ? Voice.reserve(sampleRate: configuration.sampleRate) : configuration.fadeFrames),
            ordering: .relaxed)
        noteEnds(of: generation, lane: next)
        noteStart(at: 0, generation: generation, lane: next)
        unsafe lanes[next].notedFrame.store(0, ordering: .releasing)
        let now = transportPosition
        let ahead = frame.isNow ? 0 : max(0, frame.value - now.engineFrame)
        streaming.prime(
            StreamingService.Target(
                lane: next, generation: generation, oldFrame: now.isRolling ? now.streamFrame + ahead : nil,
                frames: Self.primeFrames(period: period, fadeFrames: configuration.fadeFrames), voices: voices
            ),
            period: period, whenPrimed: whenReady)
        return PrimedStream(
            generation: generation, map: map, frameCount: streams[generation].flatMap(streamEnd), lane: next)
    }

    private func voice(
        _ shape: VoiceShape, courses: [Course], rates: Rates, lane: Int, from first: Int64
    ) -> Voice {
        do throws(StretchError) {
            return try Voice(
                shape, feeds: shape.slots.map { tracks[$0.index]!.feed }, courses: courses,
                semitones: rates[shape.slots[0]].sounding(rates.session).semitones,
                lane: lane, from: first, sampleRate: configuration.sampleRate)
        } catch {
            preconditionFailure("rates that were never checked: \(error)")
        }
    }

    /// Has a track that is new join the stream under way, where that has come to.
    func join(_ feed: TrackFeed) {
        guard var stream = streams[generation], generation > 0 else { return }
        stream.rates.tracks[feed.slot] = rates.tracks[feed.slot]
        let lane = laneGenerations[self.lane] == generation ? self.lane : 1 - self.lane
        let first = streaming.consumed(lane)
        let rates = stream.rates
        let rate = rates[feed.slot]
        let course = Course(
            from: first, place: stream.map.wrapped(stream.map.path.position(of: first)),
            loop: stream.map.loop,
            rate: rate.rate, sounding: rate.rate * stream.map.path.rate)
        let shape = VoiceShape.shapes(of: [feed.slot], at: rates)[0]
        let voice = voice(shape, courses: [course], rates: rates, lane: lane, from: first)
        stream.courses[feed.slot.index] = course
        stream.voices.append(voice)
        stream.canSettle = canSettle(stream)
        streams[generation] = stream
        unsafe feed.link.lane(lane).pointee.startsInside.store(
            course.isInside(first, clips: feed.stream.clips), ordering: .releasing)
        voice.begin()
        streaming.add(voice)
    }

    /// Notes that the command of `stream` has been sent: its lane is the one that is heard from now on.
    public func noteSent(_ stream: PrimedStream) {
        lane = stream.lane
        laneGenerations[lane] = stream.generation
        let old = laneGenerations[1 - lane]
        streams = streams.filter { $0.key == stream.generation || $0.key == old }
        // Those are the streaming side's from now on: it frees them when the crossover is over.
        streams[old]?.voices = []
        if let sent = streams[stream.generation] { rates = sent.rates }
    }

    /// Tells all tracks whether a start where the transport stands still must fade in. Before every start.
    public func prepareStart() {
        let now = transportPosition
        guard !now.isRolling, now.generation == laneGenerations[lane] else { return }
        noteStart(at: now.streamFrame, generation: now.generation, lane: lane)
        unsafe lanes[lane].notedFrame.store(now.streamFrame, ordering: .releasing)
    }

    private func noteStart(at frame: Int64, generation: UInt32, lane: Int) {
        guard let stream = streams[generation] else { return }
        for (index, entry) in tracks {
            guard let course = stream.courses[index] else { continue }
            unsafe entry.feed.link.lane(lane).pointee.startsInside.store(
                course.isInside(frame, clips: entry.feed.stream.clips), ordering: .releasing)
        }
    }

    /// Tells the audio thread where a stream ends and where it stops by itself.
    private func noteEnds(of generation: UInt32, lane: Int) {
        guard let stream = streams[generation] else { return }
        let stop = stream.stop.map { max(0, stream.map.frame(of: $0)) }
        unsafe lanes[lane].sessionEnd.store(streamEnd(stream) ?? .max, ordering: .releasing)
        unsafe lanes[lane].stopFrame.store(
            min(stop ?? .max, stream.stopFrames ?? .max), ordering: .releasing)
    }

    /// The stream frame behind the last sound of all tracks; nil when one plays for ever, or the timeline goes round.
    private func streamEnd(_ stream: HostStream) -> Int64? {
        guard stream.map.loop == nil else { return nil }
        var last: Int64 = 0
        for (index, entry) in tracks {
            guard let course = stream.courses[index] else { continue }
            guard let end = course.end(of: entry.feed.stream.clips) else { return nil }
            last = max(last, end)
        }
        return last
    }

    // MARK: Time

    /// Where the transport was after the last block.
    public var transportPosition: TransportPosition { position.read() }

    /// The timeline position of the next frame, in frames.
    public var timelinePosition: Int64 {
        let now = transportPosition
        return streams[now.generation]?.map.position(of: now.streamFrame) ?? 0
    }

    /// The stream that the transport is on.
    public var currentMap: StreamMap { streams[transportPosition.generation]?.map ?? StreamMap(start: 0) }

    /// A stream that takes the current one up at its stream frame `frame`.
    public func mapGoingOn(from frame: Int64, loop: Range<Int64>?) -> StreamMap {
        let now = streams[laneGenerations[lane]]?.map ?? StreamMap(start: 0)
        return StreamMap(
            place: now.wrapped(now.path.position(of: frame)), loop: loop, rate: now.path.rate, takenUp: frame)
    }

    /// The timeline position behind the last sound of all tracks; nil when one plays for ever.
    ///
    /// Where rates have moved while it played, it is where the current stream will end.
    public var sessionEnd: Int64? {
        if let stream = streams[transportPosition.generation], stream.map.loop == nil, generation > 0 {
            return streamEnd(stream).map { stream.map.position(of: $0) }
        }
        var last: Int64 = 0
        for entry in tracks.values {
            guard let end = entry.feed.stream.end(at: rates[entry.feed.slot].rate) else { return nil }
            last = max(last, end)
        }
        return last
    }

    /// Frames until the end of the current stream; nil when it has none.
    public var framesLeft: Int64? {
        let now = transportPosition
        return streams[now.generation].flatMap(streamEnd).map { max(0, $0 - now.streamFrame) }
    }
}

/// What the host knows of a stream.
struct HostStream {
    var map: StreamMap
    var rates: Rates
    var courses: [UInt16: Course]
    var voices: [Voice]
    /// Whether one that is primed for its rates would need less.
    var canSettle = false
    /// The timeline position and the number of frames at which it stops by itself.
    var stop: Int64?
    var stopFrames: Int64?
}

// MARK: - Rates

extension RenderHost {
    /// Whether rates can be played at all here.
    public func check(_ rates: Rates) throws(StretchError) {
        for rate in rates.tracks.values {
            let sounding = rate.sounding(rates.session)
            guard RateRange.rates.contains(sounding.rate) else { throw .rate(sounding.rate) }
            guard RateRange.semitones.contains(sounding.semitones) else {
                throw .semitones(sounding.semitones)
            }
        }
        guard RateRange.rates.contains(rates.session) else { throw .rate(rates.session) }
        let isPlain = rates.session == 1 && rates.tracks.values.allSatisfy { $0.sounding(1).isPlain }
        guard isPlain || RateRange.sampleRates.contains(configuration.sampleRate) else {
            throw .sampleRate(configuration.sampleRate)
        }
    }

    /// Whether the current stream can go to `rates` as it is. Otherwise it must be taken up by one that is primed for
    /// them: where a track comes to be stretched, or ceases to be, and where tracks are stretched together otherwise than
    /// before.
    public func canTurn(to rates: Rates) -> Bool {
        guard let stream = streams[laneGenerations[lane]] else { return false }
        return stream.voices.allSatisfy { $0.shape.canGo(from: stream.rates, to: rates) }
    }

    /// Whether the track in `slot` would be stretched, or played as a tape, at `rates`.
    public func isRated(_ slot: SlotID, at rates: Rates) -> Bool {
        !rates[slot].sounding(rates.session).isPlain
    }

    /// How the track in `slot` is stretched at present; nil where its media are played as they are, or as a tape.
    public func stretchMode(of slot: SlotID) -> TrackRate.Mode? {
        let voice = streams[laneGenerations[lane]]?.voices.first { $0.shape.slots.contains(slot) }
        guard case .stretch(let engine, _) = voice?.shape.maker else { return nil }
        return engine == .fine ? .fine : .fast
    }

    /// Whether a stream that is primed for the current rates would need less: stretchers can be left out, or shared.
    public var canSettle: Bool { streams[laneGenerations[lane]]?.canSettle ?? false }

    /// What `canSettle` is of a stream: looked at when its rates or tracks change, not whenever somebody asks.
    private func canSettle(_ stream: HostStream) -> Bool {
        let slots = tracks.keys.sorted().map { tracks[$0]!.feed.slot }
        return VoiceShape.shapes(of: slots, at: stream.rates) != stream.voices.map(\.shape)
    }

    /// Has the current stream go to `rates`, which `canTurn` must permit, as soon as everything that changes can on the
    /// same frame; returns that frame of the stream. Waits for a few milliseconds at most.
    @discardableResult
    public func turn(to rates: Rates) -> Int64 {
        let generation = laneGenerations[lane]
        guard var stream = streams[generation] else { return 0 }
        let old = stream.rates
        func sounding(_ voice: Voice, _ rates: Rates) -> SoundingRate {
            rates[voice.shape.slots[0]].sounding(rates.session)
        }
        let turning = stream.voices.filter { sounding($0, old) != sounding($0, rates) }
        stream.rates = rates
        self.rates = rates
        // One that was sent is heard in a moment, from its beginning on; the frame is still the last one's.
        let now = transportPosition
        var effect = now.generation == generation ? now.streamFrame : 0
        if !turning.isEmpty {
            streaming.turn(turning, at: effect) { first in
                effect = first
                // What is free for one track may not be for another; events that are close together end it.
                for _ in 0..<4 {
                    let before = effect
                    for voice in turning {
                        for (slot, feed) in zip(voice.shape.slots, voice.feeds)
                        where old[slot].rate != rates[slot].rate {
                            effect =
                                stream.courses[slot.index]?.firstFree(
                                    from: effect, reach: Int64(configuration.sampleRate) / 5,
                                    clips: feed.stream.clips)
                                ?? effect
                        }
                    }
                    if effect == before { break }
                }
                return turns(turning, of: &stream, from: old, at: effect)
            }
        }
        stream.canSettle = canSettle(stream)
        streams[generation] = stream
        noteEnds(of: generation, lane: lane)
        return effect
    }

    private func turns(
        _ turning: [Voice], of stream: inout HostStream, from old: Rates, at frame: Int64
    ) -> [(Voice, Voice.Turn, [Course?])] {
        let rates = stream.rates
        let ramp = turning.reduce(Int64(0)) { longest, voice in
            let slot = voice.shape.slots[0]
            return max(
                longest,
                voice.shape.rampFrames(
                    from: old[slot].sounding(old.session).rate, to: rates[slot].sounding(rates.session).rate))
        }
        if old.session != rates.session { stream.map.move(to: rates.session, at: frame, over: ramp) }
        return turning.map { voice in
            let goal = rates[voice.shape.slots[0]].sounding(rates.session)
            let courses = voice.shape.slots.map { slot -> Course? in
                stream.courses[slot.index]?.move(
                    to: rates[slot].rate, sounding: goal.rate, at: frame, over: ramp, map: stream.map)
                return old[slot].rate == rates[slot].rate ? nil : stream.courses[slot.index]
            }
            let turn = Voice.Turn(frame: frame, rate: goal.rate, ramp: ramp, semitones: goal.semitones)
            return (voice, turn, courses)
        }
    }
}
