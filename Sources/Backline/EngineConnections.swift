import JackClient
import Session

extension Engine {
    /// Connects the outputs as the options say, and the session for the rest. What the session names and is not
    /// there is a notice, unless that is an error; what an option names must be there.
    static func connect(
        _ client: JackClient, _ stage: Stage, _ options: Options
    ) throws(JackError) -> [String] {
        var notices: [String] = []
        let named = Set(options.connections.map(\.output))
        for connection in options.connections {
            if let index = stage.outputNames.firstIndex(of: connection.output) {
                try client.connect(client.outputNames[index], to: connection.port)
            }
        }
        let physical = try client.physicalOutputs()
        for bus in stage.session.buses {
            for channel in 0..<bus.channels {
                let output = "\(bus.id).\(channel + 1)"
                guard !named.contains(output), let index = stage.outputNames.firstIndex(of: output) else {
                    continue
                }
                let targets =
                    bus.connectsToPhysicalOutputs
                    ? Array(physical.dropFirst(channel).prefix(1))
                    : channel < bus.connect.count ? bus.connect[channel] : []
                if bus.connectsToPhysicalOutputs && targets.isEmpty {
                    notices.append("the server has no physical output for \(output), so it is not connected")
                }
                for target in targets {
                    do throws(JackError) {
                        try client.connect(client.outputNames[index], to: target)
                    } catch {
                        if options.isStrict { throw error }
                        notices.append(error.description)
                    }
                }
            }
        }
        return notices
    }
}
