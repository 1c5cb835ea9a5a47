import Synchronization

/// What the process callback did since the client was activated.
public struct ProcessStatistics: Sendable, Equatable {
    /// Time that callbacks took.
    public struct Time: Sendable, Equatable {
        /// Mean of all callbacks, in nanoseconds.
        public let meanNanoseconds: Double
        /// The longest callback, in nanoseconds.
        public let maximumNanoseconds: Int64
        /// Callbacks that took more than half of their period.
        public let overHalfPeriod: Int64
    }

    /// Callbacks that ran.
    public let callbacks: Int64
    /// Processor time of the callback's own thread.
    public let cpu: Time
    /// Time by the clock on the wall: also what others took away.
    public let wall: Time
    /// Frames that were lost: the server's time went on without this client.
    public let lostFrames: Int64
    /// Times that frames were lost.
    public let jumps: Int64
    /// Callbacks that read another cycle's time for once.
    public let lateReadings: Int64
    /// Times that JACK's time was taken up anew without a loss.
    public let reanchorings: Int64
    /// Callbacks that were silent, since they were longer than the render core is sized for.
    public let oversized: Int64
}

/// A number that one thread counts up and others read.
struct Counter: ~Copyable {
    private let value = Atomic<Int64>(0)

    var current: Int64 {
        @_noLocks get { value.load(ordering: .relaxed) }
    }

    /// The counting thread: no other writes, so this need not be one step.
    @_noLocks func add(_ amount: Int64) {
        value.store(value.load(ordering: .relaxed) &+ amount, ordering: .relaxed)
    }

    /// The counting thread.
    @_noLocks func set(_ amount: Int64) {
        value.store(amount, ordering: .relaxed)
    }
}

/// Times of callbacks, summed up by the process thread.
struct TimeTally: ~Copyable {
    private let total = Counter()
    private let maximum = Counter()
    private let overHalfPeriod = Counter()

    /// The process thread: one callback took `nanoseconds` of a period of `period` nanoseconds.
    @_noLocks func add(_ nanoseconds: Int64, ofPeriod period: Int64) {
        total.add(nanoseconds)
        if nanoseconds > maximum.current { maximum.set(nanoseconds) }
        if nanoseconds &* 2 > period { overHalfPeriod.add(1) }
    }

    func snapshot(callbacks: Int64) -> ProcessStatistics.Time {
        ProcessStatistics.Time(
            meanNanoseconds: callbacks == 0 ? 0 : Double(total.current) / Double(callbacks),
            maximumNanoseconds: maximum.current, overHalfPeriod: overHalfPeriod.current)
    }
}
