import Backline
import Session

/// The options that say at which rate and pitch a session is played or rendered.
enum RateOptions {
    static let all: [Arguments.Option] = [
        .init("speed", "R", "the session's rate, 0.5 to 2, instead of what it says"),
        .init("pitch", "N", "move all tracks by so many semitones, -12 to 12; 0.5 is 50 cents"),
        .init(
            "mode", "M",
            "how all tracks keep time: fine (best), fast (a third of the work), tape (pitch follows)"),
    ]

    /// Changes `document` by what `arguments` say.
    static func apply(_ arguments: Arguments, to document: inout SessionDocument) throws {
        let mode = try arguments.choice("mode", RateMode.self)
        if let rate = try arguments.decimal("speed", in: Track.rateRange) { document.session.rate = rate }
        for i in document.session.tracks.indices {
            if let mode { document.session.tracks[i].rateMode = mode }
            // A tape has none of its own.
            if mode == .tape { document.session.tracks[i].pitch = 0 }
        }
        guard let pitch = try arguments.decimal("pitch", in: Track.pitchRange) else { return }
        let movable = document.session.tracks.indices.filter { document.session.tracks[$0].rateMode != .tape }
        guard !movable.isEmpty || pitch == 0 else {
            throw UsageError(
                message:
                    "--pitch \(pitch): in mode tape the pitch follows the rate; choose --mode fine or fast")
        }
        for i in movable { document.session.tracks[i].pitch = pitch }
    }
}
