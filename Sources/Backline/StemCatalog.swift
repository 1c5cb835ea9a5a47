import AudioFiles
import Foundation
public import Session

/// The tracks that sound files make when they are named without a session.
///
/// A file with one audio stream is a track. One with several is a track for each of them, save that a stem file's
/// first stream, the mix of the others, is left out: with it everything would sound twice.
public struct StemCatalog: Sendable {
    /// A file that is no track, and why.
    public struct Skipped: Sendable, Equatable, Codable {
        /// The file, as it was named or found.
        public let file: String
        /// Why it cannot be read.
        public let reason: String
    }

    /// One for each track to be, in order.
    public private(set) var stems: [Session.Stem] = []
    /// Files that cannot be read.
    public private(set) var skipped: [Skipped] = []

    private var titles: [String?] = []

    /// Looks into `files`.
    public init(_ files: [String]) {
        for file in files {
            do throws(AudioFileError) {
                add(try SoundFileContents(path: file), of: file)
            } catch {
                skipped.append(Skipped(file: file, reason: error.description))
            }
        }
        // Stems of one song often carry the song's title; then it tells nothing.
        let counts = Dictionary(titles.compactMap { $0 }.map { ($0, 1) }, uniquingKeysWith: +)
        for (i, title) in titles.enumerated() {
            if let title, counts[title] == 1 { stems[i].name = title }
        }
    }

    private mutating func add(_ contents: SoundFileContents, of file: String) {
        guard contents.streams.count > 1 else {
            if contents.streams.isEmpty {
                skipped.append(Skipped(file: file, reason: "cannot read \(file): it has no sound"))
                return
            }
            stems.append(Session.Stem(file: file))
            titles.append(contents.tags["title"])
            return
        }
        let base = Self.baseName(of: file)
        for (number, stream) in contents.streams.enumerated() where number > 0 || !contents.isStemFile {
            stems.append(
                Session.Stem(
                    file: file, stream: number, name: stream.name, idName: stream.name ?? "\(base)-\(number)")
            )
            titles.append(nil)
        }
    }

    private static func baseName(of file: String) -> String {
        let name = URL(fileURLWithPath: file).deletingPathExtension()
        return (name.pathExtension.lowercased() == "stem" ? name.deletingPathExtension() : name)
            .lastPathComponent
    }

    /// The regular files right in `folder`, hidden ones left out, in the order in which people count: 2 before 10.
    public static func files(in folder: String) throws(BacklineError) -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: folder)
                .filter { !$0.hasPrefix(".") }
                .sorted { a, b in
                    let order = a.compare(b, options: [.numeric, .caseInsensitive])
                    return order == .orderedSame ? a < b : order == .orderedAscending
                }
                .map { folder.hasSuffix("/") ? folder + $0 : folder + "/" + $0 }
                .filter { path in
                    var isFolder: ObjCBool = false
                    return unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
                        && !isFolder.boolValue
                }
        } catch {
            throw .unreadable(file: folder, reason: error.localizedDescription)
        }
    }
}
