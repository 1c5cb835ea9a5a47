import EngineHost
import Foundation
import RenderCore
import Session

/// What a track's or a bus's channels did over some time.
public struct Levels: Sendable, Equatable {
    /// One channel.
    public struct Channel: Sendable, Equatable {
        /// Highest magnitude, in dB below full scale; −infinity for silence.
        public var peak: Double
        /// RMS, a full-scale sine reading 0 dB; −infinity for silence.
        public var average: Double
        /// Samples above full scale.
        public var clips: Int
    }

    /// After the fader.
    public var channels: [Channel]
    /// Before the fader; clips are counted behind it only.
    public var channelsBeforeFader: [Channel]
}

/// Adds up what meters read.
struct LevelSum {
    private var frames: Int64 = 0
    private var channels: [ChannelMeter] = []

    mutating func add(_ reading: [ChannelMeter], frames newFrames: Int64) {
        if channels.isEmpty { channels = reading.map { _ in ChannelMeter() } }
        frames += newFrames
        for i in reading.indices {
            channels[i].peak = max(channels[i].peak, reading[i].peak)
            channels[i].peakBefore = max(channels[i].peakBefore, reading[i].peakBefore)
            channels[i].sumOfSquares += reading[i].sumOfSquares
            channels[i].sumOfSquaresBefore += reading[i].sumOfSquaresBefore
            channels[i].clips &+= reading[i].clips
        }
    }

    /// The levels since the beginning, of the first `count` channels behind the fader and of the first
    /// `countBefore` before it.
    func levels(_ count: Int, before countBefore: Int) -> Levels {
        Levels(
            channels: channels.prefix(count).map { meter in
                Levels.Channel(
                    peak: Self.decibels(Double(meter.peak)), average: average(meter.sumOfSquares),
                    clips: Int(meter.clips))
            },
            channelsBeforeFader: channels.prefix(countBefore).map { meter in
                Levels.Channel(
                    peak: Self.decibels(Double(meter.peakBefore)), average: average(meter.sumOfSquaresBefore),
                    clips: 0)
            })
    }

    private func average(_ sumOfSquares: Double) -> Double {
        // A full-scale sine has a mean square of 1/2 and reads 0 dB.
        frames == 0 ? -.infinity : Self.decibels((2 * sumOfSquares / Double(frames)).squareRoot())
    }

    private static func decibels(_ amplitude: Double) -> Double {
        20 * log10(amplitude)
    }
}

/// The levels of all tracks and buses, by id.
public struct LevelReport: Sendable, Equatable {
    /// Of each track, in the session's order.
    public var tracks: [(id: String, levels: Levels)]
    /// Of each bus, in the session's order.
    public var buses: [(id: String, levels: Levels)]

    /// Whether two reports say the same.
    public static func == (a: LevelReport, b: LevelReport) -> Bool {
        a.tracks.elementsEqual(b.tracks) { $0.id == $1.id && $0.levels == $1.levels }
            && a.buses.elementsEqual(b.buses) { $0.id == $1.id && $0.levels == $1.levels }
    }
}

extension Stage {
    /// What `sums` hold, by the names of the session.
    func report(_ sums: [SlotID: LevelSum], buses busSums: [SlotID: LevelSum]) -> LevelReport {
        LevelReport(
            tracks: session.tracks.indices.map { i in
                let own = trackChannels[i]
                let sum = sums[tracks[i]] ?? LevelSum()
                return (session.tracks[i].id, sum.levels(max(2, own), before: own))
            },
            buses: session.buses.indices.map { i in
                let own = session.buses[i].channels
                let sum = busSums[buses[i]] ?? LevelSum()
                return (session.buses[i].id, sum.levels(own, before: own))
            })
    }
}
