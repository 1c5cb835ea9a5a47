import Glibc

/// A lock with a condition: how streaming and control wait for each other. The audio thread never meets it.
@safe
final class Monitor: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init() {
        // Who holds it runs at the priority of those who wait for it: streaming threads wait for control, too.
        var inheritance = pthread_mutexattr_t()
        unsafe pthread_mutexattr_init(&inheritance)
        unsafe pthread_mutexattr_setprotocol(&inheritance, Int32(PTHREAD_PRIO_INHERIT))
        unsafe pthread_mutex_init(mutex, &inheritance)
        unsafe pthread_mutexattr_destroy(&inheritance)
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_cond_init(condition, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    /// Runs `body` while nobody else does.
    func locked<Result>(_ body: () -> Result) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return body()
    }

    /// Inside `locked`: lets others in until somebody calls `wakeAll`, or for `milliseconds` at most.
    func wait(milliseconds: Int? = nil) {
        guard let milliseconds else {
            unsafe pthread_cond_wait(condition, mutex)
            return
        }
        var deadline = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &deadline)
        deadline.tv_nsec += milliseconds % 1000 * 1_000_000
        deadline.tv_sec += milliseconds / 1000 + deadline.tv_nsec / 1_000_000_000
        deadline.tv_nsec %= 1_000_000_000
        unsafe pthread_cond_timedwait(condition, mutex, &deadline)
    }

    /// Inside `locked`: wakes all who wait.
    func wakeAll() {
        unsafe pthread_cond_broadcast(condition)
    }
}
