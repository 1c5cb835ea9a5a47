import Stretch

/// **Streaming:** the media of a track in the order in which one stream plays them, by media frame.
///
/// One thread at a time reads it. A source that fails is silent from there on, and told once.
final class MediaStream: StretchSource {
    let channelCount: Int
    private let track: TrackStream
    private let report: (SourceFailure) -> Void
    private var course: Course
    private var pass: Course.Pass

    /// The media frame behind the last sound; the largest number where there is none.
    private(set) var frameCount: Int64

    /// The media of `track` on `course`; failures go to `report`.
    init(_ track: TrackStream, on course: Course, report: @escaping (SourceFailure) -> Void) {
        self.track = track
        self.course = course
        self.report = report
        channelCount = track.channelCount
        pass = course.pass(at: Course.leadIn, clips: track.clips)
        frameCount = course.mediaEnd(of: track.clips) ?? .max
    }

    /// Goes on by a course that has moved.
    func follow(_ course: Course) {
        self.course = course
        pass = course.pass(at: pass.begin, clips: track.clips, from: pass)
        frameCount = course.mediaEnd(of: track.clips) ?? .max
    }

    /// Reads the `count` frames from `frame` on, all of them.
    func read(from frame: Int64, into buffer: UnsafeMutablePointer<Float>, count: Int) -> Int {
        var done = 0
        while done < count {
            done += unsafe readSome(
                from: frame + Int64(done), into: buffer + done * channelCount, count: count - done)
        }
        return done
    }

    /// Reads up to `count` frames, at least one: fewer where that saves a copy.
    func readSome(from frame: Int64, into buffer: UnsafeMutablePointer<Float>, count: Int) -> Int {
        if frame >= pass.end || frame < pass.begin {
            pass = course.pass(at: frame, clips: track.clips, from: pass)
        }
        let left = Int(min(Int64(count), pass.end - frame))
        return unsafe track.read(pass.clips, at: frame, into: buffer, count: left, report: report)
    }
}
