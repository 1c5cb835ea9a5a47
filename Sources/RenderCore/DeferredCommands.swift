/// Commands for later, ordered by frame and, for one frame, by arrival, so that nothing waits behind them.
@safe
struct DeferredCommands: BitwiseCopyable {
    /// How many commands can wait.
    static var capacity: Int { @_noLocks get { 256 } }

    private let storage: UnsafeMutablePointer<TimedCommand>
    private var count = 0

    /// An empty store in memory for `capacity` commands.
    @_noLocks init(storage: UnsafeMutablePointer<TimedCommand>) {
        unsafe self.storage = storage
    }

    /// The frame of the first command.
    var nextFrame: EngineFrame {
        @_noLocks get { count == 0 ? EngineFrame(Int64.max) : unsafe storage[0].frame }
    }

    /// Keeps `command`. False when there is no room.
    @_noLocks mutating func insert(_ command: TimedCommand) -> Bool {
        if count == Self.capacity { return false }
        var i = count
        while i > 0, unsafe command.frame < storage[i &- 1].frame {
            unsafe storage[i] = storage[i &- 1]
            i &-= 1
        }
        unsafe storage[i] = command
        count &+= 1
        return true
    }

    /// Takes the first command, which must be there.
    @_noLocks mutating func removeFirst() -> TimedCommand {
        let first = unsafe storage[0]
        count &-= 1
        for i in 0..<count { unsafe storage[i] = storage[i &+ 1] }
        return first
    }
}
