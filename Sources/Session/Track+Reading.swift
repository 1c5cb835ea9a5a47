extension Track {
    /// Reads the `number`th track; `nil`, and a fault, where `node` is no object.
    static func draft(_ node: JSONNode, number: Int, log: FaultLog) -> Draft<Track>? {
        guard var object = ObjectReader(node, kind: "track", number: number, log: log) else { return nil }
        var draft = Draft(&object) { id, name, object in
            var track = Track(id: id, name: name)
            track.clips = clips(&object, log: log)
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

    private static func refuseUnbuilt(_ object: inout ObjectReader) {
        if object.number("rate", in: 0.5...2) ?? 1 != 1 { object.refuse("rate", .rates) }
        // At rate 1 all of these sound the same.
        _ = object.choice("rateMode", of: ["fine", "fast", "tape"])
        if object.number("pitch", in: -.infinity ... .infinity) ?? 0 != 0 { object.refuse("pitch") }
        if !object.list("sends").isEmpty { object.refuse("sends", .sends) }
        if !object.list("inserts").isEmpty { object.refuse("inserts", .inserts) }
        if object.flag("direct") { object.refuse("direct") }
        if object.node("automation") != nil { object.refuse("automation") }
    }
}
