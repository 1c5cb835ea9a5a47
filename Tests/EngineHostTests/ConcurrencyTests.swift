import EngineHost
import RenderCore
import Synchronization
import TestSupport
import Testing

/// The audio thread renders while control does all that it can do to it. Under ThreadSanitizer, which
/// `scripts/test-tsan` runs these with, nothing of that may be a race.
@Suite("Control beside a rendering thread")
struct HostConcurrencyTests {
    /// Renders on a thread of its own until it is told to end.
    private final class RenderThread: Sendable {
        private let driver: Handed<OfflineDriver>
        private let isEnding = Atomic(false)
        let rendered = Atomic<Int64>(0)
        let blocks = Atomic<Int>(0)

        init(_ driver: OfflineDriver) {
            self.driver = Handed(driver)
        }

        func start() -> OwnThread {
            OwnThread { [self] in
                var sizes = SplitMix(seed: 3)
                while !isEnding.load(ordering: .relaxed) {
                    let frames = 1 + Int(sizes.next() % 256)
                    driver.value.render(frames)
                    rendered.add(Int64(frames), ordering: .relaxed)
                    blocks.add(1, ordering: .relaxed)
                }
            }
        }

        func end() { isEnding.store(true, ordering: .relaxed) }
    }

    @Test("every frame is metered once, however often meters are collected")
    func meters() throws {
        let rig = try OfflineRig(sources: [SignalSource(frames: 1 << 40) { _, _ in 1 }])
        try rig.locate(to: 0)
        try rig.host.send([.start])
        let thread = RenderThread(rig.driver)
        let running = thread.start()
        var frames: Int64 = 0
        var power = 0.0
        var collections = 0
        var wrong = 0
        while collections < 2_000 {
            guard let reading = rig.host.collectMeters(), let meter = reading.tracks[rig.tracks[0]] else {
                OwnThread.yield()
                continue
            }
            collections += 1
            frames += reading.frames
            power += meter[0].sumOfSquaresBefore
            // All ones: the sum of squares is the number of frames, in this reading as in all of them.
            if meter[0].sumOfSquaresBefore != Double(reading.frames) { wrong += 1 }
        }
        thread.end()
        running.join()
        #expect(wrong == 0)
        #expect(power == Double(frames))
        #expect(frames <= thread.rendered.load(ordering: .relaxed))
    }

    @Test("commands, faders, plans, locates and readings at the same time lose nothing")
    func everything() throws {
        let sources = (0..<6).map { SignalSource.sine(hertz: 100 * Double($0 + 1), frames: 1 << 40) }
        let rig = try OfflineRig(sources: sources)
        try rig.locate(to: 0)
        try rig.host.send([.start])
        let thread = RenderThread(rig.driver)
        let running = thread.start()
        var random = SplitMix(seed: 11)
        var located = 0
        var told = 0
        var readings = 0
        var last: Int64 = 0
        var backwards = 0
        let isPrimed = Atomic(false)
        var primed: PrimedStream?
        while located < 25 {
            let gain = Float(random.next() % 100) / 100
            let track = rig.tracks[Int(random.next() % 6)]
            switch random.next() % 6 {
            case 0: try? rig.host.send([.trackGain(track, left: gain, right: gain)])
            case 1: rig.host.moveFader(of: track, left: gain, right: 1 - gain)
            case 2: rig.host.moveFader(ofBus: rig.main, left: gain, right: gain)
            case 3: if rig.host.collectMeters() != nil { readings += 1 }
            case 4: try? rig.host.adopt(rig.graph(of: Array(rig.tracks.shuffled(using: &random).prefix(4))))
            default:
                if let stream = primed {
                    // A ring that is full takes the command another time.
                    if isPrimed.load(ordering: .acquiring), (try? rig.host.send([stream.locate])) != nil {
                        rig.host.noteSent(stream)
                        primed = nil
                    }
                } else if rig.host.canPrime {
                    isPrimed.store(false, ordering: .relaxed)
                    primed = rig.host.prime(StreamMap(start: Int64(random.next() % 1_000_000))) {
                        isPrimed.store(true, ordering: .releasing)
                    }
                }
            }
            for notice in rig.host.takeNotices() {
                told += 1
                if case .located = notice { located += 1 }
            }
            let position = rig.host.transportPosition
            if position.engineFrame < last { backwards += 1 }
            last = position.engineFrame
            OwnThread.yield()
        }
        thread.end()
        running.join()
        #expect(backwards == 0)
        #expect(readings > 0)
        #expect(told >= located)
        #expect(rig.host.lostNotices == 0)
    }
}
