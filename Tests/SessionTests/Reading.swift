import Session

/// Reads `text` as the file `demo.backline.json`.
func read(_ text: String) throws(SessionFaults) -> Session {
    try SessionReader.read(text.utf8, file: "demo.backline.json")
}

/// Reads a session with `fields` behind its format, on line 1.
func session(_ fields: String) throws(SessionFaults) -> Session {
    try read(#"{ "format": "backline-session/1", \#(fields) }"#)
}

/// Reads a session of one track, which plays `a.wav` and has `fields` besides.
func track(_ fields: String) throws(SessionFaults) -> Track {
    try session(#""tracks": [ { "id": "a", "file": "a.wav", \#(fields) } ]"#).tracks[0]
}

/// What is said to be wrong, without file and line.
func messages(_ read: @autoclosure () throws(SessionFaults) -> some Any) -> [String] {
    do {
        _ = try read()
        return []
    } catch {
        return error.faults.map(\.message)
    }
}
