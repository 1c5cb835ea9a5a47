extension Track {
    /// The rates of tracks and of the session.
    public static let rateRange = 0.5...2.0

    /// An octave down to an octave up, in semitones.
    public static let pitchRange = -12.0...12.0

    /// Reads the `number`th track; `nil`, and a fault, where `node` is no object.
    static func draft(_ node: JSONNode, number: Int, log: FaultLog) -> Draft<Track>? {
        guard var object = ObjectReader(node, kind: "track", number: number, log: log) else { return nil }
        var draft = Draft(&object) { id, name, object in
            var track = Track(id: id, name: name)
            track.clips = clips(&object, log: log)
            track.readRate(&object)
            track.gain = object.level()
            track.pan = object.number("pan", in: -1...1) ?? 0
            track.mute = object.flag("mute")
            track.solo = object.flag("solo")
            track.invert = object.flag("invert")
            return track
        }
        if let output = draft.output { draft.value.output = output.id }
        refuseUnbuilt(&object)
        draft.value.extensions = object.finish()
        return draft
    }

    private static func clips(_ object: inout ObjectReader, log: FaultLog) -> [Clip] {
        let file = object.name("file")
        let start = object.time("start")
        let loops = object.integer("loops", in: Clip.loopRange)
        let stream = object.integer("stream", in: Clip.streamRange)
        let nodes = object.list("clips")
        guard object.has("clips") else {
            if !object.has("file") { object.report("\(object.label) has neither \"file\" nor \"clips\"") }
            return file.map {
                [Clip(file: $0, stream: stream ?? 0, start: start ?? .zero, loops: loops ?? 0)]
            } ?? []
        }
        if nodes.isEmpty, !object.has("id"), !object.has("name") {
            object.report("\(object.label) has neither \"id\" nor \"name\" nor a clip to be named after")
        }
        if object.has("file") { object.report("file", "stands beside \"clips\"; give one of them") }
        for key in ["stream", "start", "loops"] where object.has(key) {
            object.report(key, "stands beside \"clips\"; each clip has its own")
        }
        return nodes.enumerated().compactMap { [label = object.label] index, node in
            Clip(node, label: "clip \(index + 1) of \(label)", log: log)
        }
    }

    private mutating func readRate(_ object: inout ObjectReader) {
        rate = object.number("rate", in: Self.rateRange) ?? 1
        rateMode = object.choice("rateMode") ?? .fine
        pitch = object.number("pitch", in: Self.pitchRange) ?? 0
        if rateMode == .tape, pitch != 0 {
            object.report(
                "pitch",
                "follows the rate in mode \"tape\"; choose \"fine\" or \"fast\", or leave \"pitch\" out")
        }
    }

    private static func refuseUnbuilt(_ object: inout ObjectReader) {
        if !object.list("sends").isEmpty { object.refuse("sends", .sends) }
        if !object.list("inserts").isEmpty { object.refuse("inserts", .inserts) }
        if object.flag("direct") { object.refuse("direct") }
        if object.node("automation") != nil { object.refuse("automation") }
    }
}
