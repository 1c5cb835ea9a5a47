import Session

extension Engine {
    /// The session as it sounds now.
    public var session: Session { stage.session }

    /// Changes the session while it plays: volume, pan, mute, solo and invert of tracks and buses are heard, smoothed,
    /// and so are the session's rate and each track's rate, mode and pitch; other changes are not made.
    ///
    /// A rate outside 0.5 to 2 and a pitch outside −12 to 12 semitones are held there; what is no number is refused.
    /// Rates are heard within 60 ms, with a track in mode `fine` among those that change within 150 ms, on the same frame
    /// in all of them. The call does not wait for that.
    public func edit(_ change: @Sendable (inout Session) -> Void) throws(BacklineError) {
        var changed = stage.session
        change(&changed)
        let now = stage.session
        guard changed.tracks.map(\.id) == now.tracks.map(\.id), changed.buses.map(\.id) == now.buses.map(\.id)
        else { throw .full("tracks and buses cannot be added or renamed while the session plays") }
        let numbers = [changed.rate] + changed.tracks.flatMap { [$0.rate, $0.pitch] }
        guard numbers.allSatisfy(\.isFinite) else {
            throw .full("a rate or a pitch is no number; rates go from 0.5 to 2, pitches from -12 to 12")
        }
        var next = now
        next.rate = min(max(changed.rate, Track.rateRange.lowerBound), Track.rateRange.upperBound)
        for i in next.tracks.indices {
            next.tracks[i].gain = changed.tracks[i].gain
            next.tracks[i].pan = changed.tracks[i].pan
            next.tracks[i].mute = changed.tracks[i].mute
            next.tracks[i].solo = changed.tracks[i].solo
            next.tracks[i].invert = changed.tracks[i].invert
            let (rates, pitches) = (Track.rateRange, Track.pitchRange)
            next.tracks[i].rate = min(max(changed.tracks[i].rate, rates.lowerBound), rates.upperBound)
            next.tracks[i].rateMode = changed.tracks[i].rateMode
            next.tracks[i].pitch = min(max(changed.tracks[i].pitch, pitches.lowerBound), pitches.upperBound)
        }
        for i in next.buses.indices {
            next.buses[i].gain = changed.buses[i].gain
            next.buses[i].pan = changed.buses[i].pan
            next.buses[i].mute = changed.buses[i].mute
            next.buses[i].solo = changed.buses[i].solo
        }
        try stage.edit { $0 = next }
        turn()
    }

    /// The levels since the last call.
    public func recentLevels() -> LevelReport {
        defer { recent = MeterSums() }
        return stage.report(recent.tracks, buses: recent.buses)
    }
}
