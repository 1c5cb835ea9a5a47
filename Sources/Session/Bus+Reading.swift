extension Bus {
    /// Reads the `number`th bus; `nil`, and a fault, where `node` is no object.
    static func draft(_ node: JSONNode, number: Int, log: FaultLog) -> Draft<Bus>? {
        guard var object = ObjectReader(node, kind: "bus", number: number, log: log) else { return nil }
        var draft = Draft(&object) { id, name, object in
            var bus = Bus(id: id, name: name)
            let channels = object.integer("channels", in: channelRange)
            bus.channels = channels ?? 2
            // A fault in the number of channels is not one in what they are connected to.
            let isFaulty = channels == nil && object.has("channels")
            bus.connect = object.connections(channels: isFaulty ? .max : bus.channels)
            bus.gain = object.level()
            bus.pan = object.number("pan", in: -1...1) ?? 0
            bus.mute = object.flag("mute")
            bus.solo = object.flag("solo")
            bus.soloSafe = object.flag("soloSafe")
            return bus
        }
        draft.value.output = draft.output?.id
        if !object.has("id"), !object.has("name") {
            object.report("\(object.label) has neither \"id\" nor \"name\"")
        }
        if !object.list("sends").isEmpty { object.refuse("sends", .sends) }
        if !object.list("inserts").isEmpty { object.refuse("inserts", .inserts) }
        for key in ["automation", "onOutputLost"] where object.node(key) != nil { object.refuse(key) }
        draft.value.extensions = object.finish()
        return draft
    }

    private static let channelRange = 1...64
}
