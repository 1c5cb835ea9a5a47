import Foundation
public import Session

/// A clip as a session describes it, where the engine's own `Clip` is meant too.
typealias SessionClip = Clip

/// A session and where it was found: relative names in it start there.
public struct SessionDocument: Sendable, Equatable {
    /// What it says.
    public var session: Session
    /// The folder that its files are relative to.
    public var folder: String
    /// The session file, if it came from one.
    public var file: String?

    /// The largest session file that is read: 64 MiB.
    public static let maximumBytes = 64 << 20

    /// A session made in code.
    public init(_ session: Session, folder: String = ".") {
        self.session = session
        self.folder = folder
    }

    /// Reads a session file; throws all its faults at once, with their lines.
    public init(reading path: String) throws(BacklineError) {
        let url = URL(fileURLWithPath: path)
        let bytes: Data
        do {
            let values = try url.resourceValues(forKeys: [.fileSizeKey, .isRegularFileKey, .isDirectoryKey])
            if values.isDirectory == true {
                throw BacklineError.unreadable(
                    file: path, reason: "it is a folder; name a session file in it")
            }
            if let size = values.fileSize, size > Self.maximumBytes {
                throw BacklineError.unreadable(
                    file: path,
                    reason: "it has \(size) bytes, and a session file has at most \(Self.maximumBytes)")
            }
            bytes = try Data(contentsOf: url)
        } catch let error as BacklineError {
            throw error
        } catch {
            throw .unreadable(file: path, reason: Self.reason(error))
        }
        do {
            session = try SessionReader.read(bytes, file: path)
        } catch {
            throw .faults(error.description)
        }
        folder = url.deletingLastPathComponent().path
        file = path
    }

    /// A session of what `files` hold, started together: a track for each, or for each audio stream in them.
    public init(files: [String]) {
        var stems = StemCatalog(files).stems[...]
        // A file that cannot be read keeps its place, for the engine to tell.
        let all = files.flatMap { file in
            let own = stems.prefix { $0.file == file }
            stems = stems.dropFirst(own.count)
            return own.isEmpty ? [Session.Stem(file: file)] : Array(own)
        }
        self.init(Session(name: Session(files: Array(files.prefix(1))).name, stems: all))
    }

    /// Whether `path` names a session file, by its ending.
    public static func isSessionFile(_ path: String) -> Bool {
        path.lowercased().hasSuffix(".json")
    }

    /// The way to the file that the session calls `name`.
    public func path(of name: String) -> String {
        name.hasPrefix("/") || folder == "." ? name : "\(folder)/\(name)"
    }

    /// The sample rate of the first file that can be read, in Hz; 48,000 where there is none.
    public var firstFileRate: Int { StemLoader.firstRate(of: self) }

    private static func reason(_ error: any Error) -> String {
        let underlying = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
        if (error as NSError).code == CocoaError.fileReadNoSuchFile.rawValue
            || underlying?.code == Int(ENOENT)
        {
            return "there is no such file"
        }
        if (error as NSError).code == CocoaError.fileReadNoPermission.rawValue { return "permission denied" }
        return (error as NSError).localizedDescription
    }
}
