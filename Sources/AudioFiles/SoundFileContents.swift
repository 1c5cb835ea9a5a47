/// **Any thread:** what a sound file says of itself, told from its header, without measuring it.
public struct SoundFileContents: Sendable {
    /// The container, as the library that opened it calls it.
    public let container: String
    /// The audio streams, in the file's order; a file that libsndfile opens has one.
    public let streams: [SoundStream]
    /// Titles and the like, by the names that SoundFileInfo has.
    public let tags: [String: String]
    /// The picture that goes with the title, if there is one.
    public let artwork: SoundArtwork?
    /// Whether the first stream is a mix of the others, as in Native Instruments' stem files.
    public let isStemFile: Bool

    /// Tags that libav calls by other names.
    private static let otherNames = ["track": "tracknumber", "encoder": "software"]
    private static let names = [
        "title", "artist", "album", "track", "date", "genre", "comment", "encoder", "copyright", "license",
    ]
    /// What writing programs put in place of a stream's name.
    private static let noNames = ["soundhandler", "sound media handler", "core media audio", "mediahandler"]

    /// Reads the header of the file at `path`; throws where it is none that can be read.
    public init(path: String) throws(AudioFileError) {
        self = try openWithEither(path, stream: 0) { () throws(AudioFileError) -> SoundFileContents in
            SoundFileContents(try SndFile(reading: path))
        } otherwise: { () throws(AudioFileError) -> SoundFileContents in
            SoundFileContents(try AvContainer(path: path))
        }
    }

    /// What libsndfile says, and what of tags it leaves out: most of an MP3 file's, and all pictures.
    init(_ file: borrowing SndFile) {
        container = file.containerName
        streams = [
            SoundStream(
                name: nil, encoding: file.encodingName, sampleRate: file.sampleRate,
                channelCount: file.channelCount)
        ]
        let other = try? AvContainer(path: file.path, probes: false)
        var tags = other.map { Self.tags($0) } ?? [:]
        tags["software"] = nil
        self.tags = tags.merging(file.tags) { $1 }
        artwork = other?.artwork
        isStemFile = false
    }

    init(_ file: AvContainer) {
        container = file.formatName
        let stemNames = file.isMP4 ? Mp4Header(path: file.path)?.stemNames : nil
        let name = file.path.lowercased()
        let isNamedSo = [".stem.mp4", ".stem.m4a"].contains { name.hasSuffix($0) }
        isStemFile = file.streams.count > 1 && (stemNames != nil || isNamedSo)
        streams = file.streams.enumerated().map { number, stream in
            let stem = number > 0 && number <= stemNames?.count ?? 0 ? stemNames?[number - 1] : nil
            return SoundStream(
                name: Self.name(stem ?? "") ?? Self.name(of: stream), encoding: stream.codecName,
                sampleRate: stream.sampleRate, channelCount: stream.channelCount)
        }
        tags = Self.tags(file)
        artwork = file.artwork
    }

    private static func tags(_ file: AvContainer) -> [String: String] {
        // Ogg says of its streams what others say of the file.
        let all = file.tags.merging(file.streams.first?.tags ?? [:]) { own, _ in own }
        var tags: [String: String] = [:]
        for name in names {
            guard let text = all[name], !text.isEmpty else { continue }
            tags[otherNames[name] ?? name] = text
        }
        return tags
    }

    private static func name(of stream: AvStream) -> String? {
        name(stream.tags["title"] ?? "") ?? name(stream.tags["name"] ?? "")
            ?? name(stream.tags["handler_name"] ?? "")
    }

    private static func name(_ text: String) -> String? {
        text.isEmpty || noNames.contains(text.lowercased()) ? nil : text
    }
}
