/// The engine's own clock: frames since the engine began. It counts 64 bits, never runs backwards and survives
/// the server; a frame that the server lost counts too.
public struct EngineFrame: BitwiseCopyable, Comparable, Sendable {
    /// Frames since the engine began.
    public var value: Int64

    /// The engine frame `value`.
    @_noLocks public init(_ value: Int64) {
        self.value = value
    }

    /// Before every frame: a command for this frame takes effect as soon as it arrives.
    public static var now: EngineFrame { @_noLocks get { EngineFrame(Int64.min) } }

    /// Whether this is `now`.
    public var isNow: Bool { @_noLocks get { value == Int64.min } }

    /// Whether `a` comes before `b`.
    @_noLocks public static func < (a: EngineFrame, b: EngineFrame) -> Bool {
        a.value < b.value
    }

    /// The frame `frames` after `start`.
    @_noLocks public static func + (start: EngineFrame, frames: Int) -> EngineFrame {
        EngineFrame(start.value &+ Int64(frames))
    }
}
