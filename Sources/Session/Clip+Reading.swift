extension Clip {
    /// For ever, or up to a thousand million times more: of a file of a day, those frames still fit 64 bits.
    static let loopRange = -1...1_000_000_000

    /// Numbers of audio streams; no container that is read has more.
    static let streamRange = 0...999

    /// Reads a clip; `nil`, and a fault, where `node` is no object or names no file.
    init?(_ node: JSONNode, label: String, log: FaultLog) {
        guard var object = ObjectReader(node, label: label, log: log) else { return nil }
        let file = object.name("file")
        if !object.has("file") { object.report("\(label) has no \"file\"") }
        self.init(file: file ?? "")
        start = object.time("start") ?? .zero
        offset = object.time("offset") ?? .zero
        length = object.time("length")
        if length == .zero || length == .frames(0) {
            object.report("length", "expected more than 0; leave it out to play to the file's end")
        }
        gain = object.gain("gain") ?? 1
        fadeIn = object.time("fadeIn") ?? .zero
        fadeOut = object.time("fadeOut") ?? .zero
        loops = object.integer("loops", in: Self.loopRange) ?? 0
        stream = object.integer("stream", in: Self.streamRange) ?? 0
        extensions = object.finish()
        if file == nil { return nil }
    }
}
