import Backline
import Foundation
import Session

/// One run of `play`: what the keys do, and how it ends.
@MainActor
final class Player {
    let reporter: PlayReporter
    private let engine: Engine
    private let atEnd: PlayCommand.AtEnd
    private let keys = KeyInput()
    private var soloIsNext = false
    /// Whether it is to play: what space changes. A pause that still fades is one.
    private var isToPlay = true
    private var outcome: ExitStatus?

    init(engine: Engine, document: SessionDocument, style: PlayReporter.Style, atEnd: PlayCommand.AtEnd) {
        self.engine = engine
        self.atEnd = atEnd
        reporter = PlayReporter(style: style, document: document)
    }

    /// Plays until the end, a key or a signal.
    func run() async throws -> ExitStatus {
        let interruption = Interruption()
        let listener = Task { [engine] in
            for await event in engine.events { await hear(event) }
        }
        reporter.begin(await engine.status)
        try await engine.play()
        while outcome == nil {
            if interruption.isAsked { outcome = .interrupted }
            for key in gathered(keys.read()) {
                // What a key cannot do is no reason to stop the music.
                do { try await press(key.key, times: key.times) } catch { reporter.notice("\(error)") }
            }
            await reporter.draw(engine)
            try? await Task.sleep(for: .milliseconds(reporter.style == .terminal ? 40 : 20))
        }
        let isPlaying = await engine.status.isPlaying
        if outcome != .failed && isPlaying {
            // The fade of a stop, so that leaving does not click.
            try? await engine.pause()
            let limit = ContinuousClock.now + .milliseconds(300)
            while await engine.status.isPlaying, ContinuousClock.now < limit {
                try? await Task.sleep(for: .milliseconds(5))
            }
        }
        let report = await engine.close()
        await listener.value
        keys.restore()
        reporter.finish(report)
        let isDegraded = !report.problems.isEmpty || report.underruns > 0 || report.lostFrames > 0
        switch outcome {
        case .done: return isDegraded ? .degraded : .done
        case let other: return other ?? .failed
        }
    }

    private func hear(_ event: EngineEvent) async {
        reporter.tell(event)
        switch event {
        case .ended:
            isToPlay = false
            switch atEnd {
            case .quit: outcome = outcome ?? .done
            case .stop: break
            case .rewind: await engine.locate(to: 0)
            }
        case .serverGone(let reason):
            reporter.error("play: the JACK server went away: \(reason); start it again, then play again")
            outcome = .failed
        default: break
        }
    }

    /// Keys that were pressed several times in a row, as one: a key that is held down does not fall behind.
    private func gathered(_ keys: [Key]) -> [(key: Key, times: Int)] {
        var list: [(key: Key, times: Int)] = []
        for key in keys {
            let repeats = key == .left || key == .right
            if repeats, let last = list.last, last.key == key {
                list[list.count - 1].times += 1
            } else {
                list.append((key, 1))
            }
        }
        return list
    }

    private func press(_ key: Key, times: Int) async throws {
        switch key {
        case .space:
            isToPlay.toggle()
            if isToPlay { try await engine.play() } else { try await engine.pause() }
        case .left: await engine.skip(-5 * Double(times))
        case .right: await engine.skip(5 * Double(times))
        case .digit(let digit):
            let index = digit == 0 ? 9 : digit - 1
            let soloes = soloIsNext
            try await engine.edit { session in
                guard session.tracks.indices.contains(index) else { return }
                if soloes { session.tracks[index].solo.toggle() } else { session.tracks[index].mute.toggle() }
            }
        case .letter("+"), .letter("="): try await changeVolume(1)
        case .letter("-"): try await changeVolume(-1)
        case .letter("["): try await changeRate(-0.05)
        case .letter("]"): try await changeRate(0.05)
        case .letter("{"): try await changePitch(-1)
        case .letter("}"): try await changePitch(1)
        case .letter("q"): outcome = .done
        default: break
        }
        soloIsNext = key == .letter("s")
        reporter.noteKey(await engine.session, soloIsNext: soloIsNext)
    }

    /// Changes the session's rate, in steps that meet 1.
    private func changeRate(_ step: Double) async throws {
        try await engine.edit { session in
            session.rate = ((session.rate + step) * 100).rounded() / 100
        }
    }

    /// Moves all tracks that have a pitch of their own.
    private func changePitch(_ semitones: Double) async throws {
        if await engine.session.tracks.allSatisfy({ $0.rateMode == .tape }) {
            reporter.notice("in mode tape the pitch follows the rate; choose --mode fine or fast to move it")
        }
        try await engine.edit { session in
            for i in session.tracks.indices where session.tracks[i].rateMode != .tape {
                session.tracks[i].pitch += semitones
            }
        }
    }

    /// Changes the volume of the buses that feed no other, by `decibels`, between silence and +12 dB.
    private func changeVolume(_ decibels: Double) async throws {
        try await engine.edit { session in
            for i in session.buses.indices where session.buses[i].output == nil {
                let gain = max(session.buses[i].gain, 0.001) * pow(10, decibels / 20)
                session.buses[i].gain = gain < 0.0012 ? 0 : min(gain, 4)
            }
        }
    }
}
