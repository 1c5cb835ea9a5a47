import Session

extension Engine {
    /// The session as it sounds now.
    public var session: Session { stage.session }

    /// Changes the session while it plays: volume, pan, mute, solo and invert of tracks and buses are heard,
    /// smoothed; other changes are not made.
    public func edit(_ change: @Sendable (inout Session) -> Void) throws(BacklineError) {
        var changed = stage.session
        change(&changed)
        let now = stage.session
        guard changed.tracks.map(\.id) == now.tracks.map(\.id), changed.buses.map(\.id) == now.buses.map(\.id)
        else { throw .full("tracks and buses cannot be added or renamed while the session plays") }
        try stage.edit { session in
            for i in session.tracks.indices {
                session.tracks[i].gain = changed.tracks[i].gain
                session.tracks[i].pan = changed.tracks[i].pan
                session.tracks[i].mute = changed.tracks[i].mute
                session.tracks[i].solo = changed.tracks[i].solo
                session.tracks[i].invert = changed.tracks[i].invert
            }
            for i in session.buses.indices {
                session.buses[i].gain = changed.buses[i].gain
                session.buses[i].pan = changed.buses[i].pan
                session.buses[i].mute = changed.buses[i].mute
                session.buses[i].solo = changed.buses[i].solo
            }
        }
    }

    /// The levels since the last call.
    public func recentLevels() -> LevelReport {
        defer { recent = MeterSums() }
        return stage.report(recent.tracks, buses: recent.buses)
    }
}
