import Glibc

/// A thread of a test's own, for what two sides do at the same time.
///
/// A plain pthread: ThreadSanitizer sees its start and its end, and nothing else orders the two sides.
@safe
public struct OwnThread {
    private let thread: pthread_t

    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Starts `body`.
    public init(_ body: @escaping @Sendable () -> Void) {
        let work = unsafe Unmanaged.passRetained(Work(body))
        var thread = pthread_t()
        let status = unsafe pthread_create(
            &thread, nil,
            { context in
                unsafe Unmanaged<Work>.fromOpaque(context!).takeRetainedValue().body()
                return nil
            }, work.toOpaque())
        precondition(status == 0, "no thread to be had")
        self.thread = thread
    }

    /// Waits for the end of `body`.
    public func join() {
        _ = pthread_join(thread, nil)
    }

    /// Lets another thread run; for a side that has nothing to do until the other has done something.
    public static func yield() {
        sched_yield()
    }
}

/// A place for one value that is handed to one other thread.
public final class Handed<Value: ~Copyable>: @unchecked Sendable {
    /// The value; whoever it was handed to alone may use it.
    public var value: Value

    /// A place for `value`.
    public init(_ value: consuming Value) {
        self.value = value
    }
}
