import Stretch

/// Where a track's media lie in one stream: which media frame every stream frame has, and at which media frame each
/// clip begins.
///
/// Media frames are the frames of a track's clips, put on one line in the order in which the stream plays them: round a
/// loop range they go on counting. A rate moves along that line and never bends it, so that loops and clips need no
/// restart of a stretcher, and all places follow from whole numbers.
struct Course: Sendable {
    /// The media frame that a stream begins with. What lies before it is what a stretcher hears first, unheard.
    static let leadIn: Int64 = 16_384

    /// Where a stream takes up another, when media are not where the timeline alone would have them.
    struct Beginning: Sendable {
        /// The exact media place of the stream's first frame.
        var media: SourcePosition
        /// The media frames at which clips that sound there, or are over, began; nil for those to come.
        var clips: [Int64?]
    }

    /// From a place of the timeline on, media go by the track's own rate from here.
    private struct Anchor: Sendable {
        /// On the timeline, without the loop.
        var place: SourcePosition
        var media: SourcePosition
        var rate: Double

        func media(of place: SourcePosition) -> Int64 {
            let moved = (place - self.place) * rate
            return media.frame + Int64((moved + Double(media.fraction) * 0x1p-64 + 0.5).rounded(.down))
        }
    }

    /// Media frames by stream frame.
    private(set) var path: RatePath
    private let place: SourcePosition
    private let loop: Range<Int64>?
    private var anchors: [Anchor]
    private let begun: Beginning?

    /// The course of a stream that begins at stream frame `frame` and at `place` of the timeline, which `loop` goes
    /// round; media go by at `sounding` a stream frame and at `rate` a timeline frame.
    init(
        from frame: Int64 = 0, place: SourcePosition, loop: Range<Int64>?, rate: Double, sounding: Double,
        begun: Beginning? = nil
    ) {
        let media = begun?.media ?? SourcePosition(frame: Self.leadIn)
        path = RatePath(rate: sounding, frame: frame, position: media)
        self.place = place
        self.loop = loop
        self.begun = begun
        anchors = [Anchor(place: place, media: media, rate: rate)]
    }

    /// The track's own rate, once all changes have come.
    var rate: Double { anchors[anchors.count - 1].rate }

    // MARK: Changes

    /// Goes to another rate from stream frame `frame` on; `map` has moved already.
    mutating func move(to rate: Double, sounding: Double, at frame: Int64, over ramp: Int64, map: StreamMap) {
        path.move(to: sounding, at: frame, over: ramp)
        let from = (map.path.position(of: frame), path.position(of: frame))
        let isOld = anchors.count > 1 && anchors[anchors.count - 1].place >= from.0
        guard rate != self.rate || isOld else { return }
        let to = (map.path.position(of: frame + ramp), path.position(of: frame + ramp))
        anchors.removeAll { $0.place >= from.0 }
        if ramp > 0 {
            let average = (to.1 - from.1) / (to.0 - from.0)
            anchors.append(Anchor(place: from.0, media: from.1, rate: average))
        }
        anchors.append(Anchor(place: to.0, media: to.1, rate: rate))
    }

    /// The stream frame from which on the track's own rate may move, `frame` or a later one: a clip's beginning and a
    /// loop's seam that are less than `reach` media frames ahead have been read already, and are let pass.
    func firstFree(from frame: Int64, reach: Int64, clips: [Clip]) -> Int64 {
        var frame = frame
        for _ in 0..<8 {
            let media = path.position(of: frame).frame
            guard let event = event(after: media, clips: clips), event < media + reach else { return frame }
            frame = max(frame, path.frame(of: event)) + 1
        }
        return frame
    }

    private func event(after media: Int64, clips: [Clip]) -> Int64? {
        let pass = pass(at: media + 1, clips: clips)
        let starts = pass.clips.map(\.start).filter { $0 > media }
        return (starts + [pass.end]).filter { $0 != .max }.min()
    }

    // MARK: Passes

    /// A stretch of the stream in which the timeline goes on without a jump.
    struct Pass {
        /// 0 up to the end of the loop range, then one for each time round it.
        var number: Int64
        /// Its first media frame; the lowest there is for the first pass.
        var begin: Int64
        /// The media frame behind it.
        var end: Int64
        /// The clips, with `start` in media frames.
        var clips: [Clip]
    }

    /// The pass that a media frame is in, looked for from `known` on.
    func pass(at media: Int64, clips: [Clip], from known: Pass? = nil) -> Pass {
        var pass = self.pass(known?.number ?? number(at: media), clips)
        while media >= pass.end { pass = self.pass(pass.number + 1, clips) }
        while media < pass.begin { pass = self.pass(pass.number - 1, clips) }
        return pass
    }

    /// The number of the pass that a media frame is in, or of one beside it.
    private func number(at media: Int64) -> Int64 {
        guard let loop else { return 0 }
        let anchor = anchors.last { $0.media.frame <= media } ?? anchors[0]
        let gone = SourcePosition(frame: media) - anchor.media
        let place = anchor.place.frames + gone / anchor.rate
        let turns = (place - Double(loop.upperBound)) / Double(loop.count) + 1
        return Int64(max(0, min(turns, 0x1p62)))
    }

    private func pass(_ number: Int64, _ clips: [Clip]) -> Pass {
        let begin = number == 0 ? place : seam(number - 1)
        // What the timeline is ahead of itself for the times round the loop.
        let turns = number == 0 ? 0 : begin.frame - loop!.lowerBound
        let first = number == 0 ? Self.leadIn : media(of: begin)
        let from = number == 0 ? place : SourcePosition(frame: loop!.lowerBound)
        let rate = anchor(at: begin).rate
        var pass = Pass(
            number: number, begin: number == 0 ? .min : first,
            end: loop == nil ? .max : media(of: seam(number)), clips: clips)
        for i in clips.indices {
            let start = SourcePosition(frame: clips[i].start)
            if start >= from {
                pass.clips[i].start = media(of: start.moved(by: turns))
            } else if number == 0, let begun = begun?.clips[i] {
                pass.clips[i].start = begun
            } else {
                let gone = (from - start) * rate
                pass.clips[i].start = first - Int64((gone + 0.5).rounded(.down))
            }
        }
        return pass
    }

    /// Where the timeline jumps back for the `number`th time, from 0, without the loop.
    private func seam(_ number: Int64) -> SourcePosition {
        SourcePosition(frame: loop!.upperBound + number * Int64(loop!.count))
    }

    private func media(of place: SourcePosition) -> Int64 { anchor(at: place).media(of: place) }

    private func anchor(at place: SourcePosition) -> Anchor {
        anchors.last { $0.place <= place } ?? anchors[0]
    }

    // MARK: What follows from it

    /// The media frame behind the last clip; nil when the stream never ends.
    func mediaEnd(of clips: [Clip]) -> Int64? {
        guard loop == nil else { return nil }
        var last = Self.leadIn
        for clip in pass(0, clips).clips {
            guard let end = clip.end else { return nil }
            last = max(last, end)
        }
        return last
    }

    /// The stream frame behind the last sound; nil when the stream never ends.
    func end(of clips: [Clip]) -> Int64? { mediaEnd(of: clips).map(path.frame) }

    /// Whether stream frame `frame` lies in the middle of a sound.
    func isInside(_ frame: Int64, clips: [Clip]) -> Bool {
        let media = path.position(of: frame).rounded
        return pass(at: media, clips: clips).clips.contains { $0.isInside(media) }
    }

    /// How a stream goes on from stream frame `frame` of this one.
    func beginning(at frame: Int64, clips: [Clip]) -> Beginning {
        let media = path.position(of: frame)
        let whole = media.rounded
        return Beginning(
            media: media.moved(by: Self.leadIn - whole),
            clips: pass(at: whole, clips: clips).clips.map { clip in
                clip.start < whole ? Self.leadIn - (whole - clip.start) : nil
            })
    }
}
