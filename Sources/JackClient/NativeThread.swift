import Glibc

/// A thread of our own, for what blocks in C: the concurrency pool's threads are few and come and go.
struct NativeThread {
    private let thread: pthread_t

    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Starts `run`; nil when the system gives no thread.
    init?(_ run: @escaping @Sendable () -> Void) {
        let body = unsafe Unmanaged.passRetained(Body(run))
        var thread = pthread_t()
        let status = unsafe pthread_create(
            &thread, nil,
            { context in
                unsafe Unmanaged<Body>.fromOpaque(context!).takeRetainedValue().run()
                return nil
            }, body.toOpaque())
        guard status == 0 else {
            unsafe body.release()
            return nil
        }
        self.thread = thread
    }

    /// Waits for its end. Call either this or `detach`, once.
    func join() {
        pthread_join(thread, nil)
    }

    /// Lets it end by itself.
    func detach() {
        pthread_detach(thread)
    }
}

/// A count that threads wait for; posting it is async-signal-safe.
@safe final class Semaphore: Sendable {
    nonisolated(unsafe) private let semaphore: UnsafeMutablePointer<sem_t>

    init() {
        unsafe semaphore = .allocate(capacity: 1)
        unsafe semaphore.initialize(to: sem_t())
        unsafe sem_init(semaphore, 0, 0)
    }

    deinit {
        unsafe sem_destroy(semaphore)
        unsafe semaphore.deallocate()
    }

    func post() {
        unsafe sem_post(semaphore)
    }

    func wait() {
        while unsafe sem_wait(semaphore) != 0 && errno == EINTR {}
    }

    /// Waits for at most `seconds`; false when they passed.
    func wait(atMost seconds: Double) -> Bool {
        var deadline = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &deadline)
        let nanoseconds = deadline.tv_nsec + Int(seconds * 1e9)
        deadline.tv_sec += nanoseconds / 1_000_000_000
        deadline.tv_nsec = nanoseconds % 1_000_000_000
        while unsafe sem_timedwait(semaphore, &deadline) != 0 {
            if errno != EINTR { return false }
        }
        return true
    }
}
