import EngineHost

/// **Streaming:** a sound file as a source of frames at the session's rate.
///
/// Opens whatever libsndfile reads: WAV, RF64, W64, AIFF, CAF, FLAC, Ogg Vorbis, Opus, MP3 and more, of 1 to 64
/// channels; and what it refuses and libav reads: AAC and ALAC in M4A and MP4, WMA, APE, WavPack, Matroska, WebM and
/// the sound of video files. What an encoder added before and after the sound is left out. The file is streamed, never loaded whole. A file at the session's rate is delivered as it is: PCM up
/// to 24 bits exactly, floating-point samples unchanged save that NaN and infinite ones become 0. A file at another
/// rate is converted; its frame k sounds at k times the ratio of the rates, exactly.
public final class SoundFileSource: FrameSource {
    /// Samples in a frame, 1 to 64.
    public let channelCount: Int
    /// Length in frames at the session's rate; for a file of another rate rounded half to even.
    public let frameCount: Int64

    private let reader: any FrameReader
    private let resampler: SegmentResampler?
    private var breakIsReported = false

    /// Opens the file at `path` for a session of `sampleRate` Hz; `stream` is which of its audio streams, from 0.
    ///
    /// Throws where the file cannot be read or has no such stream, has more than 64 channels, or where one of the
    /// rates lies outside 1 to 768 kHz. A file that does not state its length is decoded once to find it.
    public init(path: String, sampleRate: Int, stream: Int = 0) throws(AudioFileError) {
        reader = try openWithEither(path, stream: stream) { () throws(AudioFileError) -> any FrameReader in
            try SoundFileReader(path: path)
        } otherwise: { () throws(AudioFileError) -> any FrameReader in
            try AvFileReader(path: path, stream: stream)
        }
        channelCount = reader.channelCount
        let rates = try SampleRateRatio(fileRate: reader.sampleRate, sessionRate: sampleRate)
        if rates.filePeriod == rates.sessionPeriod {
            resampler = nil
            frameCount = reader.frameCount
        } else {
            let resampler = try SegmentResampler(reader, rates)
            self.resampler = resampler
            frameCount = resampler.frameCount
        }
    }

    /// The file's own rate in Hz.
    public var fileSampleRate: Int { reader.sampleRate }

    /// What is missing at the file's end, where opening it tells that; `frameCount` is what is there.
    public var truncation: AudioFileError? { reader.truncation }

    /// NaN and infinite samples that were met so far and delivered as 0.
    public var nonFiniteSampleCount: Int { reader.nonFiniteSampleCount }

    /// Reads up to `count` frames from `frame` on (0 or more) into `buffer`, interleaved, and returns how many.
    ///
    /// Where a truncated or damaged file breaks off, the frames before the break are delivered; the first call that
    /// finds nothing more throws, naming the file and the frame; later ones return 0.
    public func read(
        from frame: Int64, into buffer: UnsafeMutablePointer<Float>, count: Int
    ) throws(SourceFailure) -> Int {
        var done = 0
        do throws(AudioFileError) {
            while done < count, frame + Int64(done) < frameCount {
                let start = frame + Int64(done)
                let rest = unsafe buffer + done * channelCount
                let n =
                    if let resampler {
                        try unsafe resampler.read(from: start, into: rest, count: count - done)
                    } else {
                        try unsafe reader.read(from: start, into: rest, count: count - done)
                    }
                if n == 0 { break }
                done += n
            }
        } catch {
            throw error.sourceFailure
        }
        if done == 0, count > 0, frame < frameCount, let damage = reader.damage, !breakIsReported {
            breakIsReported = true
            throw damage.sourceFailure
        }
        return done
    }
}
