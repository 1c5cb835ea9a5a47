/// **Any thread:** what a sound file is.
public struct SoundFileInfo: Codable, Hashable, Sendable {
    /// The container, as the library that opened it calls it, such as "WAV (Microsoft)".
    public let container: String
    /// The encoding, as that library calls it, such as "Signed 24 bit PCM".
    public let encoding: String
    /// Hz.
    public let sampleRate: Int
    /// Samples in a frame.
    public let channelCount: Int
    /// Length in frames.
    public let frameCount: Int64
    /// Length in seconds.
    public let duration: Double
    /// title, artist, album, tracknumber, date, genre, comment, software, copyright and license: those that it has.
    public let tags: [String: String]
    /// The picture that goes with the title, if there is one.
    public let artwork: SoundArtwork?
    /// The audio streams, where there are several.
    public let streams: [SoundStream]?
    /// What is missing at the file's end, where its header tells that.
    public let damage: String?

    /// Describes the file at `path`, and measures its audio stream numbered `stream`, from 0; throws where it cannot
    /// be read. A file that does not state its length is decoded once to find it.
    public init(path: String, stream: Int = 0) throws(AudioFileError) {
        self = try openWithEither(path, stream: stream) { () throws(AudioFileError) -> SoundFileInfo in
            let file = try SndFile(reading: path)
            let frameCount = file.measure().frameCount
            let damage = file.truncation(frameCount: frameCount)
            return SoundFileInfo(
                SoundFileContents(file), stream: 0, frameCount: frameCount, sampleRate: file.sampleRate,
                channelCount: file.channelCount, damage: damage)
        } otherwise: { () throws(AudioFileError) -> SoundFileInfo in
            let reader = try AvFileReader(path: path, stream: stream)
            return SoundFileInfo(
                try SoundFileContents(AvContainer(path: path)), stream: stream, frameCount: reader.frameCount,
                sampleRate: reader.sampleRate, channelCount: reader.channelCount, damage: reader.truncation)
        }
    }

    private init(
        _ contents: SoundFileContents, stream: Int, frameCount: Int64, sampleRate: Int, channelCount: Int,
        damage: AudioFileError?
    ) {
        container = contents.container
        encoding = contents.streams.indices.contains(stream) ? contents.streams[stream].encoding : "unknown"
        self.sampleRate = sampleRate
        self.channelCount = channelCount
        self.frameCount = frameCount
        duration = sampleRate > 0 ? Double(frameCount) / Double(sampleRate) : 0
        tags = contents.tags
        artwork = contents.artwork
        streams = contents.streams.count > 1 ? contents.streams : nil
        self.damage = damage?.description
    }
}

/// The picture that a file carries for its title.
public struct SoundArtwork: Codable, Hashable, Sendable {
    /// Its media type, such as "image/jpeg".
    public let type: String
    /// Its length in bytes.
    public let byteCount: Int
}

/// One audio stream of a file.
public struct SoundStream: Codable, Hashable, Sendable {
    /// What the file calls it, such as "Drums"; nil where it has no name.
    public let name: String?
    /// The encoding.
    public let encoding: String
    /// Hz.
    public let sampleRate: Int
    /// Samples in a frame.
    public let channelCount: Int
}
