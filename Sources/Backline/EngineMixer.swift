import EngineHost
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
        try stage.edit { session in
            session.rate = min(max(changed.rate, Track.rateRange.lowerBound), Track.rateRange.upperBound)
            for i in session.tracks.indices {
                session.tracks[i].gain = changed.tracks[i].gain
                session.tracks[i].pan = changed.tracks[i].pan
                session.tracks[i].mute = changed.tracks[i].mute
                session.tracks[i].solo = changed.tracks[i].solo
                session.tracks[i].invert = changed.tracks[i].invert
                let (rates, pitches) = (Track.rateRange, Track.pitchRange)
                session.tracks[i].rate = min(max(changed.tracks[i].rate, rates.lowerBound), rates.upperBound)
                session.tracks[i].rateMode = changed.tracks[i].rateMode
                session.tracks[i].pitch =
                    min(max(changed.tracks[i].pitch, pitches.lowerBound), pitches.upperBound)
            }
            for i in session.buses.indices {
                session.buses[i].gain = changed.buses[i].gain
                session.buses[i].pan = changed.buses[i].pan
                session.buses[i].mute = changed.buses[i].mute
                session.buses[i].solo = changed.buses[i].solo
            }
        }
        if stage.rates != stage.host.rates { stretchWatch.hasTold = false }
        turn()
    }

    /// The levels since the last call.
    public func recentLevels() -> LevelReport {
        defer { recent = MeterSums() }
        return stage.report(recent.tracks, buses: recent.buses)
    }
}
