import Backline
import Foundation
import Session

/// `backline new`: writes a session of sound files.
enum NewCommand: Command {
    static let name = "new"
    static let summary = "write a session of sound files, or of all that are in a folder"
    static let usage = "SESSION FILE…|FOLDER… [--json]"
    static let details = """
        SESSION is the file to write, NAME.backline.json; a NAME without an ending gets that one. Every file becomes a
        track; a file with several audio streams becomes a track for each, save the mix in a stem file. Tracks are called
        by the title in the file's tags where it has one of its own, and their ids are made of the files' names. Names in
        the session are relative to it. Of a folder the files right in it are taken, in the order in which people count;
        what is no sound file is left out and told. A session that is there already is never written over.
        """
    static let options: [Arguments.Option] = [.init("json", nil, "print one JSON object")]

    static func run(_ arguments: Arguments) async throws -> ExitStatus {
        guard let first = arguments.rest.first else {
            throw UsageError(message: "name the session to write, then sound files or a folder")
        }
        let path = try sessionPath(first)
        let sources = arguments.rest.dropFirst()
        guard !sources.isEmpty else {
            throw UsageError(message: "name sound files, or a folder of them, behind \(first)")
        }
        if let session = sources.first(where: SessionDocument.isSessionFile) {
            throw UsageError(message: "\(session) is a session; name sound files, or a folder of them")
        }
        guard !isThere(path) else {
            throw BacklineError.output(SessionDocument.exists(path))
        }
        let (files, named) = try files(Array(sources))
        let catalog = StemCatalog(files)
        let failed = catalog.skipped.filter { named.contains($0.file) }
        guard failed.isEmpty else {
            throw BacklineError.output(failed.map(\.reason).joined(separator: "\n"))
        }
        guard !catalog.stems.isEmpty else {
            throw BacklineError.output(
                "cannot write \(path): there is no sound file in \(sources.joined(separator: ", ")); name one that has some"
            )
        }
        let document = SessionDocument(catalog, at: path)
        try document.writeNew()
        tell(document, path, catalog.skipped, asJSON: arguments.has("json"))
        return .done
    }

    /// `NAME.backline.json` of what was given for it.
    private static func sessionPath(_ name: String) throws(UsageError) -> String {
        if SessionDocument.isSessionFile(name) { return name }
        let last = URL(fileURLWithPath: name).lastPathComponent
        guard !last.contains("."), !name.hasSuffix("/") else {
            throw UsageError(
                message:
                    "\(name) is no name of a session; begin with the session to write, as song.backline.json")
        }
        return name + ".backline.json"
    }

    /// The files that are named, and those in folders that are; and which are of the first kind.
    private static func files(_ sources: [String]) throws -> (all: [String], named: Set<String>) {
        var all: [String] = []
        var named: Set<String> = []
        for source in sources {
            var isFolder: ObjCBool = false
            if unsafe FileManager.default.fileExists(atPath: source, isDirectory: &isFolder),
                isFolder.boolValue
            {
                all += try StemCatalog.files(in: source)
            } else {
                all.append(source)
                named.insert(source)
            }
        }
        return (all, named)
    }

    private static func isThere(_ path: String) -> Bool {
        (try? FileManager.default.attributesOfItem(atPath: path)) != nil
    }

    private static func tell(
        _ document: SessionDocument, _ path: String, _ skipped: [StemCatalog.Skipped], asJSON: Bool
    ) {
        let tracks = document.session.tracks
        if asJSON {
            Output.json(NewSession(file: path, tracks: tracks.map(NewSession.Entry.init), skipped: skipped))
            return
        }
        Output.line("wrote \(path): \(tracks.count) track\(tracks.count == 1 ? "" : "s")")
        for track in tracks {
            let title = track.name == track.id ? "" : ", called \(Output.oneLine(track.name))"
            let stream = track.clips[0].stream == 0 ? "" : ", stream \(track.clips[0].stream)"
            Output.line("  track \"\(track.id)\"\(title): \(Output.oneLine(track.clips[0].file))\(stream)")
        }
        for file in skipped { Output.error("backline: left out: \(Output.oneLine(file.reason))") }
    }
}

/// What was written, in JSON.
private struct NewSession: Encodable {
    struct Entry: Encodable {
        let id: String
        let name: String
        let file: String
        let stream: Int

        init(_ track: Track) {
            id = track.id
            name = track.name
            file = track.clips[0].file
            stream = track.clips[0].stream
        }
    }

    let file: String
    let tracks: [Entry]
    let skipped: [StemCatalog.Skipped]
}
