import RenderCore
import Stretch
import Synchronization

/// **Streaming:** what writes one stream to the lanes of a track, or of several that are stretched together.
///
/// One thread at a time has it in hand.
@safe
final class Voice: @unchecked Sendable {
    /// A rate or a pitch to go to.
    struct Turn: Sendable {
        var frame: Int64
        var rate: Double
        var ramp: Int64
        var semitones: Double
    }

    private enum Maker {
        case plain(MediaStream, first: Int64)
        case tape(Varispeed)
        case stretch(Stretcher)
    }

    let lane: Int
    let shape: VoiceShape
    let feeds: [TrackFeed]
    /// What is kept ahead for the stretcher, a track each; none in a plain voice.
    let reservoirs: [Reservoir]
    private let maker: Maker
    private let channelCount: Int
    private let slack: Int64
    /// Whether it is compared with what sounds before it, to choose the law of the crossover. What is stretched, before
    /// or after, crosses over at equal gain: how far it has been made would depend on the moment, and tracks that play
    /// the same would cross over each by a law of its own.
    var isCompared = false

    // Guarded by the streaming service's monitor.
    var isInHand = false
    var isPrimed = false
    private var news: [Turn] = []

    // Of the thread that has the voice in hand, and of who holds the monitor while nobody has.
    /// The next stream frame.
    private(set) var cursor: Int64
    private(set) var isDone = false

    /// Frames that a lane in which something is stretched keeps ahead at least, for a track not to fade out, and those
    /// beyond them in which a streaming thread has its turn, in thousandths of a second: docs/decisions.md.
    static func reserve(sampleRate: Int) -> Int { sampleRate * 8 / 1000 }
    private static func slack(_ maker: VoiceShape.Maker, sampleRate: Int) -> Int {
        if case .stretch(.fine, _) = maker { return sampleRate * 32 / 1000 }
        return sampleRate * 14 / 1000
    }

    /// A voice for `feeds` on their courses, which are alike but for the places of their clips, from stream frame
    /// `first` on.
    init(
        _ shape: VoiceShape, feeds: [TrackFeed], courses: [Course], semitones: Double,
        lane: Int, from first: Int64, sampleRate: Int
    ) throws(StretchError) {
        self.shape = shape
        self.feeds = feeds
        self.lane = lane
        cursor = first
        let path = courses[0].path
        channelCount = feeds.reduce(0) { $0 + $1.channelCount }
        slack = Int64(Self.reserve(sampleRate: sampleRate) + Self.slack(shape.maker, sampleRate: sampleRate))
        let media = zip(feeds, courses).map { $0.media(on: $1) }
        if shape.maker == .plain {
            maker = .plain(media[0], first: path.position(of: first).rounded - first)
            reservoirs = []
        } else {
            let begin = path.position(of: first)
            reservoirs = zip(media, feeds).map { Reservoir($0, of: $1, at: begin, sampleRate: sampleRate) }
            let source: any StretchSource = reservoirs.count == 1 ? reservoirs[0] : StemBundle(reservoirs)
            if case .stretch(let engine, let movesPitch) = shape.maker {
                let stretcher = try Stretcher(
                    source, sampleRate: sampleRate, engine: engine, path: path, semitones: semitones,
                    movesPitch: movesPitch)
                if first > 0 { try stretcher.restart(at: first) }
                maker = .stretch(stretcher)
            } else {
                let varispeed = Varispeed(source, path: path)
                varispeed.skip(to: first)
                maker = .tape(varispeed)
            }
        }
    }

    /// Has its lane for itself from now on.
    func begin() {
        for feed in feeds {
            let link = unsafe feed.link.lane(lane)
            unsafe link.pointee.written.store(cursor, ordering: .relaxed)
            unsafe link.pointee.likeness.store(1000, ordering: .relaxed)
            unsafe link.pointee.end.store(.max, ordering: .releasing)
        }
    }

    /// Whether it plays media as they are.
    var isPlain: Bool { reservoirs.isEmpty }

    /// How far ahead of what is heard it writes, with blocks of `period` frames: no more than it must, since what has
    /// been written is heard at the rate of then.
    func ahead(ringFrames: Int, period: Int) -> Int64 {
        isPlain ? Int64(ringFrames) : min(Int64(ringFrames), Int64(period) + slack)
    }

    /// How many frames are ready to be heard.
    func fill(consumed: Int64) -> Int64 { isDone ? .max : cursor - consumed }

    // MARK: Rates

    /// The first stream frame at which a change can be heard, as long as nobody has the voice in hand.
    var firstChange: Int64 {
        switch maker {
        case .plain: .max
        case .tape: max(cursor, news.last?.frame ?? 0)
        case .stretch(let stretcher): max(cursor, stretcher.nextChange, news.last?.frame ?? 0)
        }
    }

    /// Goes to a rate and pitch at a frame that is not below `firstChange`; inside the monitor.
    func turn(_ turn: Turn) { news.append(turn) }

    /// What has been asked for, to be followed before anything is written; inside the monitor.
    func takeNews() -> [Turn] {
        defer { news = [] }
        return news
    }

    /// Follows what has been asked for.
    func follow(_ turns: [Turn]) {
        for turn in turns {
            switch maker {
            case .plain: break
            case .tape(let varispeed):
                try? varispeed.change(rate: turn.rate, at: turn.frame, over: turn.ramp)
            case .stretch(let stretcher):
                _ = try? stretcher.change(rate: turn.rate, at: turn.frame, over: turn.ramp)
                if case .stretch(_, movesPitch: true) = shape.maker {
                    _ = try? stretcher.change(semitones: turn.semitones, at: turn.frame)
                }
            }
        }
    }

    // MARK: Sound

    /// Writes what comes before stream frame `limit`, by way of `buffer`; less where the media are not there yet.
    func write(upTo limit: Int64, consumed: Int64, buffer: PieceBuffer) {
        if cursor < consumed { skip(to: consumed) }
        let piece = unsafe buffer.piece(channelCount: channelCount)
        let most = isPlain ? Int64(PieceBuffer.frames) : 512
        while !isDone {
            let left = min(limit - cursor, end - cursor, most)
            if left <= 0 { break }
            guard isPlain || reservoirs.allSatisfy(\.isReady) else { return }
            let made = unsafe make(Int(left), into: piece)
            if made == 0 { break }
            unsafe store(piece, made)
            cursor += Int64(made)
            for feed in feeds where !feed.isGone {
                unsafe feed.link.lane(lane).pointee.written.store(cursor, ordering: .releasing)
            }
        }
        if cursor >= end { finish() }
    }

    private func make(_ count: Int, into piece: UnsafeMutablePointer<Float>) -> Int {
        switch maker {
        case .plain(let media, let first):
            return unsafe media.readSome(from: first + cursor, into: piece, count: count)
        case .tape(let varispeed):
            return (try? unsafe varispeed.process(into: piece, count: count)) ?? 0
        case .stretch(let stretcher):
            return (try? unsafe stretcher.process(into: piece, count: count)) ?? 0
        }
    }

    /// The stream frame behind the last sound.
    private var end: Int64 {
        switch maker {
        case .plain(let media, let first): media.frameCount == .max ? .max : media.frameCount - first
        case .tape(let varispeed): varispeed.endFrame
        case .stretch(let stretcher): stretcher.endFrame
        }
    }

    private func store(_ piece: UnsafeMutablePointer<Float>, _ count: Int) {
        var channel = 0
        for feed in feeds {
            if !feed.isGone {
                unsafe feed.store(piece + channel, stride: channelCount, count, lane: lane, at: cursor)
            }
            channel += feed.channelCount
        }
    }

    /// What was to be heard by now is left out: it came too late, or the track joins a stream under way.
    private func skip(to frame: Int64) {
        cursor = frame
        switch maker {
        case .plain: break
        case .tape(let varispeed):
            varispeed.skip(to: frame)
            for reservoir in reservoirs { reservoir.begin(at: varispeed.position) }
        case .stretch(let stretcher):
            try? stretcher.restart(at: frame)
            for reservoir in reservoirs { reservoir.begin(at: stretcher.position(of: frame)) }
        }
    }

    private func finish() {
        isDone = true
        let end = end
        for feed in feeds where !feed.isGone {
            unsafe feed.link.lane(lane).pointee.written.store(end, ordering: .releasing)
            unsafe feed.link.lane(lane).pointee.end.store(end, ordering: .releasing)
        }
    }

    /// Notes for each track how much it resembles what sounds before it.
    func noteLikeness(oldFrame: Int64, frames: Int) {
        for feed in feeds where !feed.isGone {
            feed.noteLikeness(lane: lane, written: cursor, oldFrame: oldFrame, frames: frames)
        }
    }
}
