import CJack
import CRealtime
import RenderCore
import Synchronization

/// **Control:** one client in a JACK server's graph: output ports, connections, events, and the process callback
/// that runs the render core.
///
/// A client never starts a server by itself (`JackServer` does) and is not thread-safe: it belongs to whoever
/// opened it. All clients of a process are on one server. Life of a client: open, register the outputs, activate, connect, …, close. When the server goes away
/// `events` says so last, calls throw `JackError.serverGone`, and the client is to be closed.
@safe public final class JackClient {
    /// The name that was asked for. Connections that are kept for later are kept under this one.
    public let wantedName: String
    /// The name in the graph: another one if `wantedName` was taken.
    public let name: String
    /// What the server tells, in order. For one reader; ends when the client is closed.
    public let events: AsyncStream<JackEvent>
    /// Full names of the registered output ports, in order.
    public private(set) var outputNames: [String] = []

    let client: OpaquePointer
    private let notifications: UnsafeMutablePointer<Notifications>
    private let watcher: NativeThread
    private var ports: [OpaquePointer] = unsafe []
    private var process: UnsafeMutablePointer<ProcessContext>?
    private var entry: UnsafeMutablePointer<rt_entry>?
    private var owner: AnyObject?
    private var isActive = false
    /// Nil until `close`; then whether libjack let go of everything.
    private var closed: Bool?

    /// Opens a client on a server that runs.
    ///
    /// - Parameters:
    ///   - wantedName: its name in the graph; if it is taken, the server appends a number.
    ///   - server: the server's name; nil means `JACK_DEFAULT_SERVER`, else "default".
    public init(name wantedName: String, server: String? = nil) throws(JackError) {
        let limit = Int(jack_client_name_size()) - 1
        guard wantedName.utf8.count <= limit else { throw .nameTooLong(name: wantedName, limit: limit) }
        let client = try unsafe LibJack.open(wantedName, server: server)
        // The newest events stay where nobody reads: among them the last one, which tells of the server's end.
        let (events, continuation) = AsyncStream.makeStream(
            of: JackEvent.self, bufferingPolicy: .bufferingNewest(1024))
        let notifications = UnsafeMutablePointer<Notifications>.allocate(capacity: 1)
        unsafe notifications.initialize(
            to: Notifications(
                continuation: continuation, period: Int(jack_get_buffer_size(client)),
                sampleRate: Int(jack_get_sample_rate(client))))
        let context = unsafe SendablePointer(notifications)
        guard let watcher = NativeThread({ unsafe Notifications.watch(context.pointer) }) else {
            unsafe LibJack.close(client)
            throw .clientRefused(client: wantedName, reason: "the system gives no more threads")
        }
        unsafe Notifications.register(notifications, with: client)
        self.wantedName = wantedName
        self.name = unsafe String(cString: jack_get_client_name(client))
        self.events = events
        self.watcher = watcher
        unsafe self.client = unsafe client
        unsafe self.notifications = unsafe notifications
    }

    deinit {
        guard close() else {
            if let owner { _ = unsafe Unmanaged.passRetained(owner) }
            return
        }
        releaseProcess()
        unsafe notifications.deinitialize(count: 1)
        unsafe notifications.deallocate()
    }
}

// MARK: What the server is

extension JackClient {
    /// Frames a second.
    public var sampleRate: Int { unsafe notifications.pointee.sampleRate.load(ordering: .relaxed) }

    /// Frames in a period.
    public var period: Int { unsafe notifications.pointee.period.load(ordering: .relaxed) }

    /// Whether the server runs with real-time priority.
    public var isRealTime: Bool { closed == nil ? unsafe jack_is_realtime(client) != 0 : false }

    /// Whether the server went away.
    public var isServerGone: Bool { unsafe notifications.pointee.isGone.load(ordering: .acquiring) }

    /// Xruns that the server announced since the client was opened, its own and other clients'.
    public var xruns: Int { unsafe notifications.pointee.xruns.load(ordering: .relaxed) }

    /// The JACK frame of now, estimated.
    public var currentJackFrame: JackFrame { JackFrame(closed == nil ? unsafe jack_frame_time(client) : 0) }

    /// Throws if the server went away or the client is closed: nothing may be asked of either.
    func requireServer() throws(JackError) {
        if closed != nil { throw .serverGone(reason: "the client is closed") }
        guard isServerGone else { return }
        throw .serverGone(reason: unsafe String(cString: notifications.pointee.reason))
    }
}

// MARK: Rendering

extension JackClient {
    /// Registers audio output ports, in the order in which the render core gets their buffers.
    public func registerOutputs(_ names: [String]) throws(JackError) {
        try requireServer()
        guard !isActive else { throw .alreadyActive(client: name) }
        let limit = Int(jack_port_name_size()) - 1
        for portName in names {
            let full = "\(name):\(portName)"
            guard full.utf8.count <= limit else { throw .nameTooLong(name: full, limit: limit) }
            JackLog.clear()
            let type = JACK_DEFAULT_AUDIO_TYPE
            guard
                let port = unsafe jack_port_register(
                    client, portName, type, UInt(JackPortIsOutput.rawValue), 0)
            else {
                let reason = JackLog.lastComplaint(
                    otherwise: "the name is taken, or the server has no more ports")
                throw .portRefused(port: full, reason: reason)
            }
            unsafe ports.append(port)
            outputNames.append(full)
        }
    }

    /// Enters the graph: from now on every cycle renders `state` into the registered outputs.
    ///
    /// - Parameters:
    ///   - state: the process thread's alone until `deactivate` or `close` returns.
    ///   - owner: what `state` lives in: kept for as long as the process thread may run.
    ///   - engineFrame: the engine frame of the first cycle. A client that follows another one begins with that
    ///     one's `nextEngineFrame`.
    ///   - waiting: in freewheel, called before each cycle to wait for the streams.
    public func activate(
        rendering state: UnsafeMutablePointer<RenderState>, of owner: AnyObject,
        startingAt engineFrame: EngineFrame = EngineFrame(0),
        waiting: FreewheelWait? = nil
    ) throws(JackError) {
        try requireServer()
        guard !isActive else { throw .alreadyActive(client: name) }
        releaseProcess()
        let process = UnsafeMutablePointer<ProcessContext>.allocate(capacity: 1)
        unsafe process.initialize(
            to: ProcessContext(
                client: client, sampleRate: sampleRate, ports: ports, renderState: state,
                clock: FrameClock(startingAt: engineFrame)))
        let entry = UnsafeMutablePointer<rt_entry>.allocate(capacity: 1)
        unsafe entry.initialize(
            to: rt_entry(
                render: backlineProcess, context: UnsafeMutableRawPointer(process),
                wait_for_streams: waiting?.function, wait_context: waiting?.context,
                may_wait: UnsafePointer(notifications.pointee.freewheeling)))
        unsafe self.process = unsafe process
        unsafe self.entry = unsafe entry
        self.owner = owner
        JackLog.clear()
        unsafe jack_set_process_callback(client, rt_enter, entry)
        guard unsafe jack_activate(client) == 0 else {
            throw .notActivated(
                client: name, reason: JackLog.lastComplaint(otherwise: "the server did not say why"))
        }
        isActive = true
    }

    /// Leaves the graph: when it returns the process callback runs no more. All connections are gone.
    public func deactivate() {
        guard isActive, !isServerGone else { return }
        unsafe jack_deactivate(client)
        isActive = false
    }

    /// What the process callback did since the last activation.
    public var statistics: ProcessStatistics? { unsafe process?.pointee.statistics() }

    /// The engine frame that the next cycle begins with.
    public var nextEngineFrame: EngineFrame {
        EngineFrame(unsafe process?.pointee.nextEngineFrame.current ?? 0)
    }

    /// The engine frame that a JACK frame names, within 12.4 h (at 48 kHz) of now.
    public func engineFrame(of jackFrame: JackFrame) -> EngineFrame {
        clockOffset.engineFrame(of: jackFrame, near: nextEngineFrame)
    }

    /// The JACK frame at which an engine frame is due, as long as no more frames are lost.
    public func jackFrame(of engineFrame: EngineFrame) -> JackFrame {
        clockOffset.jackFrame(of: engineFrame)
    }

    private var clockOffset: FrameClock.Offset {
        FrameClock.Offset(frames: unsafe process?.pointee.clockOffset.load(ordering: .relaxed) ?? 0)
    }

    private func releaseProcess() {
        unsafe process?.deinitialize(count: 1)
        unsafe process?.deallocate()
        unsafe entry?.deallocate()
        unsafe process = nil
        unsafe entry = nil
    }
}

/// Blocks until the streams have what the next `frames` frames need: called on the process thread, and only in
/// freewheel, where blocking is permitted.
@unsafe public struct FreewheelWait {
    let function: @convention(c) (_ frames: UInt32, _ context: UnsafeMutableRawPointer?) -> Void
    let context: UnsafeMutableRawPointer?

    /// A function and the context that it is called with, which outlives the activation.
    public init(
        _ function: @escaping @convention(c) (UInt32, UnsafeMutableRawPointer?) -> Void,
        context: UnsafeMutableRawPointer?
    ) {
        unsafe self.function = unsafe function
        unsafe self.context = unsafe context
    }
}

// MARK: The end

extension JackClient {
    /// How long `close` waits for the server.
    private static let patience = 1.5

    /// Leaves the server for good; `events` ends. Takes at most 1.5 s: libjack can hang while a server restarts, and
    /// then its thread and the memory that it may still touch are left to it.
    ///
    /// - Returns: false if they were left.
    @discardableResult public func close() -> Bool {
        if let closed { return closed }
        isActive = false
        let done = Semaphore()
        let context = unsafe SendablePointer(client)
        let closer = NativeThread {
            unsafe LibJack.close(context.pointer)
            done.post()
        }
        closer?.detach()
        let closed = closer != nil && done.wait(atMost: Self.patience)
        self.closed = closed
        unsafe notifications.pointee.isClosing.store(true, ordering: .releasing)
        unsafe notifications.pointee.wake.post()
        watcher.join()
        unsafe notifications.pointee.continuation.finish()
        return closed
    }
}

/// A pointer on its way to the thread that is to have it.
@unsafe struct SendablePointer<Pointer>: @unchecked Sendable {
    let pointer: Pointer

    init(_ pointer: Pointer) {
        unsafe self.pointer = pointer
    }
}
