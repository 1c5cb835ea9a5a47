import CJack
import CRealtime
import Synchronization

/// What a JACK server tells its clients.
public enum JackEvent: Equatable, Sendable {
    /// Somebody was late. JACK says neither who nor when.
    case xrun
    /// The server works in periods of so many frames from now on.
    case period(Int)
    /// The server runs at so many frames a second from now on.
    case sampleRate(Int)
    /// Freewheel began (true) or ended.
    case freewheel(Bool)
    /// Ports came or went.
    case portsChanged
    /// Ports were connected or disconnected.
    case connectionsChanged
    /// The server is gone and says why. The last event; all that is left is to close the client.
    case shutdown(reason: String)
}

/// What JACK's notification callbacks touch, at a fixed address. They only hand over: the server cannot be called
/// from their thread, and the shutdown callback must be async-signal-safe, so that a thread of ours passes it on.
@unsafe struct Notifications: ~Copyable {
    let continuation: AsyncStream<JackEvent>.Continuation
    let xruns = Atomic<Int>(0)
    let period: Atomic<Int>
    let sampleRate: Atomic<Int>
    /// Read by the trampoline: whether the streams may be waited for.
    let freewheeling: UnsafeMutablePointer<UInt32>
    let isGone = Atomic<Bool>(false)
    let isClosing = Atomic<Bool>(false)
    let wake = Semaphore()
    /// Zero-terminated; written once, before `isGone` is set.
    let reason: UnsafeMutablePointer<CChar>
    static let reasonCapacity = 256

    init(continuation: AsyncStream<JackEvent>.Continuation, period: Int, sampleRate: Int) {
        unsafe self.continuation = continuation
        unsafe self.period = Atomic(period)
        unsafe self.sampleRate = Atomic(sampleRate)
        unsafe freewheeling = .allocate(capacity: 1)
        unsafe freewheeling.initialize(to: 0)
        unsafe reason = .allocate(capacity: Self.reasonCapacity)
        unsafe reason.initialize(repeating: 0, count: Self.reasonCapacity)
    }

    deinit {
        unsafe freewheeling.deallocate()
        unsafe reason.deallocate()
    }

    /// Sets every notification callback of a client that is not active yet.
    static func register(_ notifications: UnsafeMutablePointer<Notifications>, with client: OpaquePointer) {
        let context = UnsafeMutableRawPointer(notifications)
        _ = registrations.add(1, ordering: .releasing)
        unsafe jack_set_xrun_callback(client, noteXrun, context)
        unsafe jack_set_buffer_size_callback(client, notePeriod, context)
        unsafe jack_set_sample_rate_callback(client, noteSampleRate, context)
        unsafe jack_set_freewheel_callback(client, noteFreewheel, context)
        unsafe jack_set_port_registration_callback(client, notePort, context)
        unsafe jack_set_port_connect_callback(client, noteConnection, context)
        unsafe jack_on_info_shutdown(client, noteShutdown, context)
        unsafe jack_set_thread_init_callback(client, prepareThread, nil)
    }

    /// Our own thread: sleeps until the server goes away or the client closes.
    static func watch(_ notifications: UnsafeMutablePointer<Notifications>) {
        while unsafe !notifications.pointee.isClosing.load(ordering: .acquiring) {
            unsafe notifications.pointee.wake.wait()
            if unsafe notifications.pointee.isGone.load(ordering: .acquiring) {
                let reason = unsafe String(cString: notifications.pointee.reason)
                _ = unsafe notifications.pointee.continuation.yield(.shutdown(reason: reason))
                return
            }
        }
    }
}

/// Orders what was written before a registration before what its callbacks read: libjack hands the context to its
/// thread, which runs already, without any ordering.
private let registrations = Atomic<Int>(0)

/// The `Notifications` that a callback was registered with.
private func notifications(_ context: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<Notifications> {
    _ = registrations.load(ordering: .acquiring)
    return unsafe context!.assumingMemoryBound(to: Notifications.self)
}

@c private func noteXrun(_ context: UnsafeMutableRawPointer?) -> CInt {
    let to = unsafe notifications(context)
    unsafe to.pointee.xruns.add(1, ordering: .relaxed)
    _ = unsafe to.pointee.continuation.yield(.xrun)
    return 0
}

@c private func notePeriod(_ frames: jack_nframes_t, _ context: UnsafeMutableRawPointer?) -> CInt {
    let to = unsafe notifications(context)
    if unsafe to.pointee.period.exchange(Int(frames), ordering: .relaxed) != Int(frames) {
        _ = unsafe to.pointee.continuation.yield(.period(Int(frames)))
    }
    return 0
}

@c private func noteSampleRate(_ rate: jack_nframes_t, _ context: UnsafeMutableRawPointer?) -> CInt {
    let to = unsafe notifications(context)
    if unsafe to.pointee.sampleRate.exchange(Int(rate), ordering: .relaxed) != Int(rate) {
        _ = unsafe to.pointee.continuation.yield(.sampleRate(Int(rate)))
    }
    return 0
}

@c private func noteFreewheel(_ starting: CInt, _ context: UnsafeMutableRawPointer?) {
    let to = unsafe notifications(context)
    unsafe rt_flag_set(to.pointee.freewheeling, starting != 0)
    _ = unsafe to.pointee.continuation.yield(.freewheel(starting != 0))
}

@c private func notePort(_ port: jack_port_id_t, _ registered: CInt, _ context: UnsafeMutableRawPointer?) {
    _ = unsafe notifications(context).pointee.continuation.yield(.portsChanged)
}

@c private func noteConnection(
    _ a: jack_port_id_t, _ b: jack_port_id_t, _ connected: CInt, _ context: UnsafeMutableRawPointer?
) {
    _ = unsafe notifications(context).pointee.continuation.yield(.connectionsChanged)
}

/// Async-signal-safe, as JACK demands: copies bytes, sets a flag, posts a semaphore (whose reference is counted by
/// an atomic at most).
@c private func noteShutdown(
    _ code: jack_status_t, _ reason: UnsafePointer<CChar>?, _ context: UnsafeMutableRawPointer?
) {
    let to = unsafe notifications(context)
    if unsafe to.pointee.isGone.load(ordering: .relaxed) { return }
    if let reason = unsafe reason {
        var length = 0
        while unsafe length < Notifications.reasonCapacity - 1 && reason[length] != 0 {
            unsafe to.pointee.reason[length] = reason[length]
            length += 1
        }
    }
    unsafe to.pointee.isGone.store(true, ordering: .releasing)
    unsafe to.pointee.wake.post()
}

@c private func prepareThread(_ context: UnsafeMutableRawPointer?) {
    rt_prepare_stack()
}
