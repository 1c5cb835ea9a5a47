/// **Render:** turns the 32-bit frame that JACK tells each callback into a 64-bit engine frame that never runs
/// backwards and steps by exactly one period, except where time was really lost.
///
/// What a JACK frame says cannot be taken as it is (measured on jackd 1.9.21):
/// - It wraps every 2³² frames, 24.9 h at 48 kHz: only signed 32-bit differences mean anything.
/// - A late asynchronous client reads the *next* cycle's time, which the next callback often takes back. So a jump
///   counts only as far as it persists for two callbacks.
/// - A change of period moves the counter by the difference of the periods, once. Nothing was lost: re-anchor.
/// - A client that was stopped comes back to a counter that went on. Those frames are lost; media skips them, on
///   every player alike, so that stems stay together.
/// - A counter that persistently went back says nothing about media: re-anchor.
public struct FrameClock: BitwiseCopyable, Sendable {
    /// What one callback is to render.
    public struct Cycle: BitwiseCopyable, Sendable, Equatable {
        /// The engine frame of the callback's first frame.
        public let engineFrame: EngineFrame
        /// How many engine frames this callback skipped: time that was lost and never rendered. Never negative.
        public let skipped: Int64

        @_noLocks init(engineFrame: EngineFrame, skipped: Int64) {
            self.engineFrame = engineFrame
            self.skipped = skipped
        }
    }

    /// The engine frame that the next callback begins with, if it loses nothing.
    public private(set) var nextEngineFrame: EngineFrame
    /// Callbacks whose frame was ahead or behind, and whose successor took that back.
    public private(set) var lateReadings: Int64 = 0
    /// Times that frames were lost.
    public private(set) var jumps: Int64 = 0
    /// Frames that were lost, all jumps together.
    public private(set) var lostFrames: Int64 = 0
    /// Times that the counter was taken up anew without a loss: period changes and steps backwards.
    public private(set) var reanchorings: Int64 = 0

    /// The JACK frame that the next callback is expected at.
    private var expectedJackFrame = JackFrame(0)
    /// How far the last callback was from what was expected of it, as far as that has not been acted upon.
    private var pending: Int32 = 0
    /// The last callback's length; zero when the next callback is to anchor.
    private var period: UInt32 = 0

    /// A clock whose first callback begins with `engineFrame`, whatever its JACK frame is.
    @_noLocks public init(startingAt engineFrame: EngineFrame = EngineFrame(0)) {
        nextEngineFrame = engineFrame
    }

    /// Takes up the JACK frame of one callback of `frames` frames.
    @_noLocks public mutating func advance(jackFrame: JackFrame, frames: UInt32) -> Cycle {
        var skipped: Int64 = 0
        if frames != period {
            if period != 0 { reanchorings &+= 1 }
            period = frames
            expectedJackFrame = jackFrame
            pending = 0
        } else {
            let deviation = jackFrame - expectedJackFrame
            let persistent = Self.common(pending, deviation)
            if pending != 0 && persistent == 0 { lateReadings &+= 1 }
            if persistent > 0 {
                skipped = Int64(persistent)
                jumps &+= 1
                lostFrames &+= skipped
            } else if persistent < 0 {
                reanchorings &+= 1
            }
            expectedJackFrame = expectedJackFrame + persistent
            pending = deviation &- persistent
        }
        let cycle = Cycle(engineFrame: nextEngineFrame + Int(skipped), skipped: skipped)
        nextEngineFrame = cycle.engineFrame + Int(frames)
        expectedJackFrame = expectedJackFrame + Int32(bitPattern: frames)
        return cycle
    }

    /// Makes the next callback anchor anew, without a loss: after a restart of the server, whose counter is
    /// another one.
    @_noLocks public mutating func reanchor() {
        period = 0
    }

    /// What relates JACK's frames to the engine's; the same until frames are lost or the clock anchors anew.
    public var offset: Offset {
        @_noLocks get {
            Offset(frames: UInt32(truncatingIfNeeded: nextEngineFrame.value) &- expectedJackFrame.value)
        }
    }

    /// What two deviations have in common: the smaller one when both have one sign, else nothing.
    @_noLocks private static func common(_ a: Int32, _ b: Int32) -> Int32 {
        if a > 0 && b > 0 { return a < b ? a : b }
        if a < 0 && b < 0 { return a > b ? a : b }
        return 0
    }
}

extension FrameClock {
    /// The difference between an engine frame and its JACK frame, modulo 2³².
    ///
    /// 32 bits are enough, since a JACK frame means the one nearest to now: a reader needs only this and a rough
    /// idea of the current engine frame, and need not get both from the same callback.
    public struct Offset: BitwiseCopyable, Sendable, Equatable {
        /// Engine frame less JACK frame, modulo 2³².
        public let frames: UInt32

        /// The offset that `frames` says.
        @_noLocks public init(frames: UInt32) {
            self.frames = frames
        }

        /// The engine frame that `jackFrame` names, within 12.4 h (at 48 kHz) of `engineFrame`.
        @_noLocks public func engineFrame(of jackFrame: JackFrame, near engineFrame: EngineFrame)
            -> EngineFrame
        {
            engineFrame + Int(jackFrame - self.jackFrame(of: engineFrame))
        }

        /// The JACK frame at which `engineFrame` is due.
        @_noLocks public func jackFrame(of engineFrame: EngineFrame) -> JackFrame {
            JackFrame(UInt32(truncatingIfNeeded: engineFrame.value) &- frames)
        }
    }
}

/// A server's clock: frames that all of its clients share, 32 bits that wrap, 24.9 h at 48 kHz. Of two such frames
/// only the difference means anything.
public struct JackFrame: BitwiseCopyable, Equatable, Sendable {
    /// What JACK says.
    public var value: UInt32

    /// The JACK frame `value`.
    @_noLocks public init(_ value: UInt32) {
        self.value = value
    }

    /// How many frames `a` comes after `b`, within half of the range; negative if it comes before.
    @_noLocks public static func - (a: JackFrame, b: JackFrame) -> Int32 {
        Int32(bitPattern: a.value &- b.value)
    }

    /// The frame `frames` after `start`.
    @_noLocks public static func + (start: JackFrame, frames: Int32) -> JackFrame {
        JackFrame(start.value &+ UInt32(bitPattern: frames))
    }
}
