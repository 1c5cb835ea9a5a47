/// **Any thread:** what a sound file is.
public struct SoundFileInfo: Codable, Hashable, Sendable {
    /// The container, as libsndfile calls it, such as "WAV (Microsoft)".
    public let container: String
    /// The encoding, as libsndfile calls it, such as "Signed 24 bit PCM".
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
    /// What is missing at the file's end, where its header tells that.
    public let damage: String?

    /// Describes the file at `path`; throws where it cannot be read. A file that does not state its length is
    /// decoded once to find it.
    public init(path: String) throws(AudioFileError) {
        let file = try SndFile(reading: path)
        container = file.containerName
        encoding = file.encodingName
        sampleRate = file.sampleRate
        channelCount = file.channelCount
        frameCount = file.measure().frameCount
        duration = sampleRate > 0 ? Double(frameCount) / Double(sampleRate) : 0
        tags = file.tags
        damage = file.truncation(frameCount: frameCount)?.description
    }
}
