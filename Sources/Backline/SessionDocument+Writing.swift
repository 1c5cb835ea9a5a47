import Foundation
import Session

extension SessionDocument {
    /// A session of the tracks that `catalog` found, for a session file at `path`, which its files are relative to.
    public init(_ catalog: StemCatalog, at path: String) {
        let url = URL(fileURLWithPath: path)
        let folder = url.deletingLastPathComponent().resolvingSymlinksInPath().path
        let name = url.lastPathComponent.replacingOccurrences(
            of: "(\\.backline)?\\.json$", with: "", options: .regularExpression)
        let stems = catalog.stems.map { stem in
            var stem = stem
            stem.file = Self.path(of: stem.file, from: folder)
            return stem
        }
        self.init(Session(name: name, stems: stems), folder: folder)
        file = path
        session.sampleRate = firstFileRate
    }

    /// Writes the session to its file, which must not be there yet.
    public func writeNew() throws(BacklineError) {
        guard let file else { throw .output("the session has no file to be written to") }
        let url = URL(fileURLWithPath: file)
        do {
            try Data(session.json.utf8).write(to: url, options: .withoutOverwriting)
        } catch {
            if (error as NSError).code == CocoaError.fileWriteFileExists.rawValue {
                throw .output(Self.exists(file))
            }
            throw .output(
                "cannot write \(file): \(error.localizedDescription); choose a folder that can be written")
        }
    }

    /// What to say of a session file that is there already.
    public static func exists(_ path: String) -> String {
        "cannot write \(path): it exists already; give another name, or remove it first"
    }

    /// The way from `folder`, without symbolic links in it, to `file`.
    private static func path(of file: String, from folder: String) -> String {
        let url = URL(fileURLWithPath: file)
        let target = url.deletingLastPathComponent().resolvingSymlinksInPath().pathComponents
        let start = URL(fileURLWithPath: folder).pathComponents
        let shared = zip(start, target).prefix { $0 == $1 }.count
        let steps = start.dropFirst(shared).map { _ in ".." } + target.dropFirst(shared)
        return (steps + [url.lastPathComponent]).joined(separator: "/")
    }
}
