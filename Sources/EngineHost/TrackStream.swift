import Glibc
import Stretch

/// A piece of a medium, placed on a track.
public struct Clip {
    /// What it plays.
    public var source: any FrameSource
    /// Where it begins on the timeline, in frames.
    public var start: Int64
    /// The first frame of the source that it plays.
    public var offset: Int64
    /// How many frames of the source one pass plays.
    public var length: Int64
    /// How often it plays, 1 or more; nil for ever.
    public var plays: Int64?
    /// Linear gain.
    public var gain: Float
    /// Frames of a raised cosine at its beginning and at its end.
    public var fadeIn: Int64
    /// Frames of a raised cosine at its end.
    public var fadeOut: Int64

    /// The whole of `source`, or the part of it that `offset` and `length` choose.
    public init(
        source: any FrameSource, start: Int64 = 0, offset: Int64 = 0, length: Int64? = nil, plays: Int64? = 1,
        gain: Float = 1, fadeIn: Int64 = 0, fadeOut: Int64 = 0
    ) {
        self.source = source
        self.start = start
        self.offset = offset
        self.length = max(0, min(length ?? .max, source.frameCount - offset))
        self.plays = plays
        self.gain = gain
        self.fadeIn = fadeIn
        self.fadeOut = fadeOut
    }

    /// The timeline position behind its last frame; nil when it plays for ever.
    public var end: Int64? {
        if length == 0 { return start }
        guard let plays else { return nil }
        let (frames, overflows) = length.multipliedReportingOverflow(by: plays)
        return overflows ? nil : start + frames
    }

    /// The timeline position behind its last frame where its media go by at `rate` a timeline frame.
    func end(at rate: Double) -> Int64? {
        if rate == 1 { return end }
        return end.map { start + RateRange.outputFrames(of: $0 - start, rate: rate) }
    }

    /// Whether `position` lies behind the first frame of one of its passes.
    func isInside(_ position: Int64) -> Bool {
        guard position > start, end.map({ position < $0 }) ?? true, length > 0 else { return false }
        return (position - start) % length != 0
    }

    private var isPlain: Bool { gain == 1 && fadeIn == 0 && fadeOut == 0 }

    /// Reads up to `count` frames from the timeline position `position` on, which lies in the clip; at most to
    /// the end of a pass. Where the source fails the rest is silent, and `failure` says why.
    fileprivate func read(
        at position: Int64, into buffer: UnsafeMutablePointer<Float>, count: Int,
        failure: inout SourceFailure?
    ) -> Int {
        let frame = (position - start) % length
        let wanted = Int(min(Int64(count), length - frame))
        let channels = source.channelCount
        var got = 0
        do throws(SourceFailure) {
            while got < wanted {
                // Asked again after it delivered too little, a source that broke off says so.
                let rest = unsafe buffer + got * channels
                let more = unsafe try source.read(
                    from: offset + frame + Int64(got), into: rest, count: wanted - got)
                if more == 0 { break }
                got += more
            }
        } catch {
            failure = error
        }
        // A medium that holds less than it says goes on as silence, so that loops keep their length.
        for i in got * channels..<max(got, wanted) * channels { unsafe buffer[i] = 0 }
        if !isPlain { unsafe shape(buffer, from: position, frames: wanted) }
        return wanted
    }

    private func shape(_ buffer: UnsafeMutablePointer<Float>, from position: Int64, frames: Int) {
        let channels = source.channelCount
        for n in 0..<frames {
            let frame = position + Int64(n)
            var factor = gain
            if frame - start < fadeIn { factor *= Self.rise(Double(frame - start) / Double(fadeIn)) }
            if let end, end - frame <= fadeOut { factor *= Self.rise(Double(end - frame) / Double(fadeOut)) }
            for c in 0..<channels { unsafe buffer[n * channels + c] *= factor }
        }
    }

    private static func rise(_ x: Double) -> Float {
        Float(0.5 - 0.5 * cos(Double.pi * x))
    }
}

/// **Streaming:** what a track plays: its clips, their loops, silence between.
///
/// One thread at a time reads it. A clip whose source fails is silent from there on, and told once.
public final class TrackStream {
    /// Samples in a frame.
    public let channelCount: Int
    /// In the order of their starts.
    let clips: [Clip]
    private var failed: [Bool]
    private var mixBuffer: [Float] = []

    /// A track of these clips, which may overlap (they add up) and have as many channels as the track, or one.
    public init(clips: [Clip]) {
        self.clips = clips.sorted { $0.start < $1.start }
        channelCount = clips.map(\.source.channelCount).max() ?? 1
        failed = Array(repeating: false, count: clips.count)
    }

    /// The timeline position behind the last sound where media go by at `rate` a timeline frame; nil when it plays for
    /// ever.
    func end(at rate: Double) -> Int64? {
        var last: Int64 = 0
        for clip in clips {
            guard let end = clip.end(at: rate) else { return nil }
            last = max(last, end)
        }
        return last
    }

    /// Writes the `count` frames from `position` on to `buffer` and returns how many of them it wrote, at least
    /// one: fewer where that saves a copy. `clips` are the track's, begun where they begin on a line of media frames.
    /// Failures go to `report`.
    func read(
        _ clips: [Clip], at position: Int64, into buffer: UnsafeMutablePointer<Float>, count: Int,
        report: (SourceFailure) -> Void
    ) -> Int {
        var limit = count
        var sounding: [Int] = []
        for (index, clip) in clips.enumerated() where !failed[index] && clip.length > 0 {
            if clip.start > position {
                limit = Int(min(Int64(limit), clip.start - position))
            } else if let end = clip.end {
                if end > position {
                    limit = Int(min(Int64(limit), end - position))
                    sounding.append(index)
                }
            } else {
                sounding.append(index)
            }
        }
        if let only = sounding.first, sounding.count == 1, clips[only].source.channelCount == channelCount {
            return unsafe readClip(
                clips[only], only, at: position, into: buffer, count: limit, report: report)
        }
        for i in 0..<limit * channelCount { unsafe buffer[i] = 0 }
        for index in sounding {
            unsafe addClip(clips[index], index, at: position, to: buffer, count: limit, report: report)
        }
        return limit
    }

    private func readClip(
        _ clip: Clip, _ index: Int, at position: Int64, into buffer: UnsafeMutablePointer<Float>, count: Int,
        report: (SourceFailure) -> Void
    ) -> Int {
        var failure: SourceFailure?
        let frames = unsafe clip.read(at: position, into: buffer, count: count, failure: &failure)
        if let failure {
            failed[index] = true
            report(failure)
        }
        return frames
    }

    private func addClip(
        _ clip: Clip, _ index: Int, at position: Int64, to buffer: UnsafeMutablePointer<Float>, count: Int,
        report: (SourceFailure) -> Void
    ) {
        let channels = clip.source.channelCount
        if mixBuffer.count < count * channels { mixBuffer = Array(repeating: 0, count: count * channels) }
        var done = 0
        while done < count {
            let got = unsafe mixBuffer.withUnsafeMutableBufferPointer { scratch in
                unsafe readClip(
                    clip, index, at: position + Int64(done), into: scratch.baseAddress!, count: count - done,
                    report: report)
            }
            for n in 0..<got {
                for c in 0..<channelCount {
                    unsafe buffer[(done + n) * channelCount + c] += mixBuffer[n * channels + c % channels]
                }
            }
            done += got
        }
    }
}
