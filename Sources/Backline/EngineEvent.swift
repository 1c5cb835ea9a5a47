public import Session

/// What happens while an engine plays.
public enum EngineEvent: Sendable, Equatable {
    /// It plays from this timeline position on, in seconds.
    case started(position: Double)
    /// It stands still at this position, in seconds.
    case paused(position: Double)
    /// It came to the end: of the last sound, or of what it was asked to play.
    case ended(position: Double)
    /// It went to this position, in seconds.
    case located(position: Double)
    /// A track ran out of data and is silent until there is more.
    case underrun(track: String, cause: UnderrunCause)
    /// A track's file failed while it was read; the track is silent from there on.
    case stemFailed(StemProblem)
    /// The server lost this many frames; all tracks skipped the same.
    case lost(frames: Int64)
    /// The server announced an xrun, its own or some client's.
    case xrun(count: Int)
    /// The server's period changed.
    case period(Int)
    /// Something that a person should know, and what mends it.
    case notice(String)
    /// The server went away: nothing more will be heard.
    case serverGone(reason: String)
}

/// Why a track ran out of data.
public enum UnderrunCause: Sendable, Equatable {
    /// Its file was not read in time.
    case disk
    /// It was not stretched in time, in this mode.
    case stretching(RateMode)
}

/// How an engine is doing.
public struct EngineStatus: Sendable, Equatable {
    /// The timeline position, in seconds.
    public var position: Double
    /// The position behind the last sound, in seconds; nil when something plays for ever. Where tracks' rates have been
    /// changed, it is where they come to an end now.
    public var duration: Double?
    /// Whether it plays.
    public var isPlaying: Bool
    /// The loop range, in seconds.
    public var loop: Range<Double>?
    /// The session's rate: timeline seconds to a second.
    public var rate: Double
    /// Seconds until the end at the rates of now; nil when it plays for ever, or goes round a loop range.
    public var remaining: Double?
}

/// What an engine did since it was opened.
public struct RunReport: Sendable, Equatable {
    /// Frames that were played.
    public var frames: Int64
    /// Frames a second.
    public var sampleRate: Int
    /// The server's period, in frames.
    public var period: Int
    /// Xruns that the server announced.
    public var xruns: Int
    /// Times a track ran out of data.
    public var underruns: Int
    /// Frames that the server lost, and how often.
    public var lostFrames: Int64
    /// How often it lost some.
    public var losses: Int64
    /// Callbacks that the server made.
    public var callbacks: Int64
    /// The audio thread's CPU time over the period, as a part of it: mean and longest.
    public var loadMean: Double
    /// The longest.
    public var loadMaximum: Double
    /// Callbacks whose CPU time passed half of the period.
    public var overHalfPeriod: Int64
    /// Callbacks that read another cycle's time for once.
    public var lateReadings: Int64
    /// How often JACK's time was taken up anew without a loss: after a change of period, and where it went back.
    public var reanchorings: Int64
    /// Notices that found their ring full.
    public var lostNotices: Int
    /// Levels of all tracks and buses over the whole run.
    public var levels: LevelReport
    /// Stems that were missing, damaged, or failed.
    public var problems: [StemProblem]
}
