import CRealtime
import Glibc

/// A thread of Backline's own for streaming.
enum StreamingThread {
    private final class Job {
        let name: String
        let priority: Int?
        let body: () -> Void

        init(name: String, priority: Int?, body: @escaping () -> Void) {
            self.name = name
            self.priority = priority
            self.body = body
        }
    }

    /// Runs `body` on a new thread, at real-time priority `priority` where that is not nil and permitted.
    static func start(name: String, priority: Int?, body: @escaping @Sendable () -> Void) {
        let job = unsafe Unmanaged.passRetained(Job(name: name, priority: priority, body: body))
        var thread = pthread_t()
        let status = unsafe pthread_create(
            &thread, nil,
            { context in
                let job = unsafe Unmanaged<Job>.fromOpaque(context!).takeRetainedValue()
                unsafe name_thread(job.name)
                if let priority = job.priority {
                    var parameters = sched_param()
                    parameters.sched_priority = Int32(priority)
                    unsafe pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters)
                }
                job.body()
                return nil
            }, job.toOpaque())
        guard status == 0 else {
            unsafe fatalError(
                "backline: cannot start a streaming thread: \(String(cString: strerror(status)))")
        }
        pthread_detach(thread)
    }
}
