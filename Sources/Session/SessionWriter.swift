extension Session {
    /// The session as the text of a session file, for `SessionReader` to make the same session of.
    ///
    /// Keys always come in one order, and what a reader assumes anyway is left out. A session whose values are
    /// outside the ranges of their declarations, or whose extensions' keys do not begin with `x-`, makes a text
    /// that is refused.
    public var json: String {
        var fields = JSONText.Fields()
        fields.add("format", .string(SessionReader.format))
        fields.add("name", .string(name))
        fields.add("sampleRate", sampleRate.map { .scalar(String($0)) })
        fields.add("rate", rate, unless: 1)
        fields.add("needs", needs.isEmpty ? nil : .list(needs.map(JSONText.string)))
        fields.add("tracks", .list(tracks.map(\.text)))
        fields.add("buses", buses == [.implicitMain] ? nil : .list(buses.map(\.text)))
        fields.add(extensions)
        return fields.text.broken(indent: 0) + "\n"
    }
}

extension Track {
    fileprivate var text: JSONText {
        var fields = JSONText.Fields()
        fields.add("id", .string(id))
        fields.add("name", .string(name), unless: name == id)
        if let clip = clips.first, clips == [clip.plain] {
            fields.add("file", .string(clip.file))
            fields.add("stream", .scalar(String(clip.stream)), unless: clip.stream == 0)
            fields.add("start", clip.start)
            fields.add("loops", .scalar(String(clip.loops)), unless: clip.loops == 0)
        } else {
            fields.add("clips", .list(clips.map(\.text)))
        }
        fields.add("rate", rate, unless: 1)
        fields.add("rateMode", .string(rateMode.rawValue), unless: rateMode == .fine)
        fields.add("pitch", pitch, unless: 0)
        fields.add("volume", gain, unless: 1)
        fields.add("pan", pan, unless: 0)
        fields.add("mute", mute)
        fields.add("solo", solo)
        fields.add("invert", invert)
        fields.add("output", .string(output), unless: output == Bus.implicitMain.id)
        fields.add(extensions)
        return fields.text
    }
}

extension Clip {
    /// What of the clip a track can say without a list of clips.
    fileprivate var plain: Clip { Clip(file: file, stream: stream, start: start, loops: loops) }

    fileprivate var text: JSONText {
        var fields = JSONText.Fields()
        fields.add("file", .string(file))
        fields.add("stream", .scalar(String(stream)), unless: stream == 0)
        fields.add("start", start)
        fields.add("offset", offset)
        fields.add("length", length)
        fields.add("gain", gain, unless: 1)
        fields.add("fadeIn", fadeIn)
        fields.add("fadeOut", fadeOut)
        fields.add("loops", .scalar(String(loops)), unless: loops == 0)
        fields.add(extensions)
        return fields.text
    }
}

extension Bus {
    fileprivate var text: JSONText {
        var fields = JSONText.Fields()
        fields.add("id", .string(id))
        fields.add("name", .string(name), unless: name == id)
        fields.add("channels", .scalar(String(channels)))
        fields.add("output", output.map(JSONText.string))
        fields.add(
            "connect", .list(connect.map { .list($0.map(JSONText.string)) }), unless: connect.isEmpty)
        fields.add("volume", gain, unless: 1)
        fields.add("pan", pan, unless: 0)
        fields.add("mute", mute)
        fields.add("solo", solo)
        fields.add("soloSafe", soloSafe)
        fields.add(extensions)
        return fields.text
    }
}

extension JSONText.Fields {
    fileprivate mutating func add(_ key: String, _ number: Double, unless usual: Double) {
        add(key, .scalar(number.description), unless: number == usual)
    }

    fileprivate mutating func add(_ key: String, _ flag: Bool) {
        add(key, .scalar("true"), unless: !flag)
    }

    fileprivate mutating func add(_ key: String, _ time: TimeValue?) {
        switch time {
        case nil, .zero?: break
        case .seconds(let seconds)?: add(key, .scalar(seconds.description))
        case .frames(let count)?: add(key, .object([("frames", .scalar(String(count)))]))
        }
    }

    fileprivate mutating func add(_ extensions: [String: JSONValue]) {
        for (key, value) in extensions.sorted(by: { $0.key < $1.key }) { add(key, JSONText(value)) }
    }
}
