import CJack
import CRealtime
import RenderCore
import Synchronization

/// All that the process callback touches: one struct at a fixed address, read and written by the process thread;
/// control reads the counters and the atomics.
@unsafe struct ProcessContext: ~Copyable {
    let client: OpaquePointer
    let sampleRate: Int64
    /// Output ports in the order of their registration, and where their buffers are in this cycle.
    let ports: UnsafeMutableBufferPointer<OpaquePointer>
    let buffers: UnsafeMutablePointer<UnsafeMutablePointer<Float>>
    let renderState: UnsafeMutablePointer<RenderState>
    var clock: FrameClock

    let callbacks = Counter()
    let cpu = TimeTally()
    let wall = TimeTally()
    let lostFrames = Counter()
    let jumps = Counter()
    let lateReadings = Counter()
    let reanchorings = Counter()
    let oversized = Counter()
    let nextEngineFrame: Counter
    let clockOffset = Atomic<UInt32>(0)

    init(
        client: OpaquePointer, sampleRate: Int, ports: [OpaquePointer],
        renderState: UnsafeMutablePointer<RenderState>, clock: FrameClock
    ) {
        unsafe self.client = unsafe client
        unsafe self.sampleRate = Int64(sampleRate)
        unsafe self.ports = .allocate(capacity: ports.count)
        _ = unsafe self.ports.initialize(from: ports)
        unsafe buffers = .allocate(capacity: ports.count)
        unsafe self.renderState = unsafe renderState
        unsafe self.clock = clock
        unsafe nextEngineFrame = Counter()
        unsafe nextEngineFrame.set(clock.nextEngineFrame.value)
    }

    deinit {
        unsafe ports.deallocate()
        unsafe buffers.deallocate()
    }

    /// The process thread: what control may read of the clock.
    @_noLocks func publishClock() {
        unsafe nextEngineFrame.set(clock.nextEngineFrame.value)
        unsafe clockOffset.store(clock.offset.frames, ordering: .relaxed)
        unsafe lostFrames.set(clock.lostFrames)
        unsafe jumps.set(clock.jumps)
        unsafe lateReadings.set(clock.lateReadings)
        unsafe reanchorings.set(clock.reanchorings)
    }

    func statistics() -> ProcessStatistics {
        let callbacks = unsafe callbacks.current
        return unsafe ProcessStatistics(
            callbacks: callbacks, cpu: cpu.snapshot(callbacks: callbacks),
            wall: wall.snapshot(callbacks: callbacks), lostFrames: lostFrames.current, jumps: jumps.current,
            lateReadings: lateReadings.current, reanchorings: reanchorings.current,
            oversized: oversized.current)
    }
}

/// **Render:** JACK's process callback, entered through `rt_enter` with a `ProcessContext`.
@c @_noLocks func backlineProcess(frames: UInt32, context: UnsafeMutableRawPointer) -> CInt {
    let process = unsafe context.assumingMemoryBound(to: ProcessContext.self)
    _ = rt_enter_audio_float_mode()
    let wallBefore = rt_monotonic_nanoseconds()
    let cpuBefore = rt_thread_cpu_nanoseconds()

    let jackFrame = unsafe JackFrame(backline_jack_cycle_frame(process.pointee.client))
    let cycle = unsafe process.pointee.clock.advance(jackFrame: jackFrame, frames: frames)
    let outputs = unsafe process.pointee.buffers
    let outputCount = unsafe process.pointee.ports.count
    for output in 0..<outputCount {
        unsafe outputs[output] = backline_jack_output_buffer(process.pointee.ports[output], frames)
    }
    if Int(frames) <= RenderState.maximumBlock {
        unsafe Renderer.render(
            process.pointee.renderState, outputs: outputs, outputCount: outputCount, frames: Int(frames),
            at: cycle.engineFrame.value)
    } else {
        for output in 0..<outputCount {
            for frame in 0..<Int(frames) { unsafe outputs[output][frame] = 0 }
        }
        unsafe process.pointee.oversized.add(1)
    }

    let sampleRate = unsafe process.pointee.sampleRate
    let period = Int64(frames) &* 1_000_000_000 / sampleRate
    unsafe process.pointee.cpu.add(rt_thread_cpu_nanoseconds() &- cpuBefore, ofPeriod: period)
    unsafe process.pointee.wall.add(rt_monotonic_nanoseconds() &- wallBefore, ofPeriod: period)
    unsafe process.pointee.callbacks.add(1)
    unsafe process.pointee.publishClock()
    return 0
}
