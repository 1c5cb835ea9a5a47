import AudioFiles
import Dispatch
import EngineHost
import Foundation
import Session
import Synchronization

/// The tracks of a session with their files open, ready to be streamed.
struct LoadedTracks {
    var streams: [TrackStream]
    /// Whether a file could be opened, of at least one track.
    var haveSound: Bool
    var problems: [StemProblem]
}

/// Opens the files of a session.
enum StemLoader {
    /// One clip's way through loading; a thread at a time has it.
    private final class Job: @unchecked Sendable {
        let track: Int
        let clip: SessionClip
        /// The clip, and what is wrong with a file that can be played nevertheless.
        var result: Result<(EngineHost.Clip, damage: AudioFileError?), SourceFailure>?

        init(track: Int, clip: SessionClip) {
            self.track = track
            self.clip = clip
        }
    }

    /// The sample rate of the first file that can be opened; 48,000 where there is none.
    static func firstRate(of document: SessionDocument) -> Int {
        for track in document.session.tracks {
            for clip in track.clips {
                let contents = try? SoundFileContents(path: document.path(of: clip.file))
                guard let streams = contents?.streams, streams.indices.contains(clip.stream) else { continue }
                let rate = streams[clip.stream].sampleRate
                if rate > 0 { return rate }
            }
        }
        return 48_000
    }

    /// Opens all files, converts them to `sampleRate`, and keeps `headFrames` of each in memory. A file that cannot
    /// be opened is a problem, and silent.
    static func load(_ document: SessionDocument, sampleRate: Int, headFrames: Int) -> LoadedTracks {
        let session = document.session
        let sessionRate = session.sampleRate ?? firstRate(of: document)
        let jobs = session.tracks.enumerated().flatMap { index, track in
            track.clips.map { Job(track: index, clip: $0) }
        }
        FileLimit.raise(toHold: jobs.count)
        DispatchQueue.concurrentPerform(iterations: jobs.count) { i in
            let job = jobs[i]
            do throws(SourceFailure) {
                job.result = .success(
                    try open(
                        job.clip, path: document.path(of: job.clip.file), sessionRate: sessionRate,
                        sampleRate: sampleRate, headFrames: headFrames))
            } catch {
                job.result = .failure(error)
            }
        }
        var clips = session.tracks.map { _ in [EngineHost.Clip]() }
        var problems: [StemProblem] = []
        for job in jobs {
            switch job.result {
            case .success(let (clip, damage)):
                clips[job.track].append(clip)
                guard let damage else { continue }
                problems.append(
                    StemProblem(
                        track: session.tracks[job.track].id, file: job.clip.file, reason: damage.description))
            case .failure(let failure):
                problems.append(
                    StemProblem(
                        track: session.tracks[job.track].id, file: job.clip.file, reason: failure.description)
                )
            case nil: break
            }
        }
        return LoadedTracks(
            streams: clips.map(TrackStream.init(clips:)), haveSound: clips.contains { !$0.isEmpty },
            problems: problems)
    }

    private static func open(
        _ clip: SessionClip, path: String, sessionRate: Int, sampleRate: Int, headFrames: Int
    ) throws(SourceFailure) -> (EngineHost.Clip, damage: AudioFileError?) {
        let source: SoundFileSource
        do {
            source = try SoundFileSource(path: path, sampleRate: sampleRate, stream: clip.stream)
        } catch {
            throw error.sourceFailure
        }
        func frames(_ time: TimeValue) -> Int64 {
            let counted = time.frames(at: sessionRate)
            if sessionRate == sampleRate { return counted }
            if case .seconds = time { return time.frames(at: sampleRate) }
            return TimeValue.seconds(Double(counted) / Double(sessionRate)).frames(at: sampleRate)
        }
        let offset = frames(clip.offset)
        guard offset <= source.frameCount else {
            throw SourceFailure(
                "\(path): the clip's offset lies behind the file's end; give one below "
                    + "\(Double(source.frameCount) / Double(sampleRate)) s")
        }
        let primed = try PrimedSource(source, from: offset, frames: headFrames)
        let opened = EngineHost.Clip(
            source: primed, start: frames(clip.start), offset: offset, length: clip.length.map(frames),
            plays: clip.loops < 0 ? nil : Int64(clip.loops) + 1, gain: Float(clip.gain),
            fadeIn: frames(clip.fadeIn),
            fadeOut: frames(clip.fadeOut))
        return (opened, source.truncation)
    }
}
