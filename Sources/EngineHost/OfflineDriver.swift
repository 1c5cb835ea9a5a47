import CRealtime
import RenderCore

/// Drives the render core without a server, as fast as the machine can, at any block size: rendering waits for
/// data where the audio thread would fade out.
@safe
public final class OfflineDriver {
    /// What is rendered.
    public let host: RenderHost
    /// Channels that come out.
    public let outputCount: Int
    /// The engine frame of the next block.
    public private(set) var engineFrame: Int64 = 0
    private let samples: UnsafeMutablePointer<Float>
    private let outputs: UnsafeMutablePointer<UnsafeMutablePointer<Float>>
    private let block: UnsafeMutablePointer<OfflineBlock>
    private let entry: UnsafeMutablePointer<rt_entry>
    private let mayWait: UnsafeMutablePointer<UInt32>

    /// A driver with `outputCount` outputs, numbered as the graph's buses name them.
    public init(host: RenderHost, outputCount: Int) {
        self.host = host
        self.outputCount = outputCount
        let longest = RenderState.maximumBlock
        unsafe samples = .allocate(capacity: max(1, outputCount) * longest)
        unsafe samples.initialize(repeating: 0, count: max(1, outputCount) * longest)
        unsafe outputs = .allocate(capacity: max(1, outputCount))
        for i in 0..<outputCount { unsafe (outputs + i).initialize(to: samples + i * longest) }
        unsafe block = .allocate(capacity: 1)
        unsafe block.initialize(
            to: OfflineBlock(state: host.state, outputs: outputs, outputCount: outputCount, engineFrame: 0))
        unsafe mayWait = .allocate(capacity: 1)
        unsafe mayWait.initialize(to: 0)
        unsafe entry = .allocate(capacity: 1)
        unsafe entry.initialize(
            to: rt_entry(
                render: renderOffline, context: UnsafeMutableRawPointer(block), wait_for_streams: nil,
                wait_context: nil, may_wait: UnsafePointer(mayWait)))
    }

    deinit {
        unsafe entry.deallocate()
        unsafe mayWait.deallocate()
        unsafe block.deallocate()
        unsafe outputs.deallocate()
        unsafe samples.deallocate()
    }

    /// Renders the next `frames` frames, 1 to 8,192. What came out is in `output(_:)` until the next call.
    public func render(_ frames: Int) {
        precondition(frames >= 1 && frames <= RenderState.maximumBlock, "a block of \(frames) frames")
        host.sendHeld()
        host.streaming.waitForData(frames + 2 * host.configuration.fadeFrames)
        unsafe block.pointee.engineFrame = engineFrame
        unsafe _ = rt_enter(UInt32(frames), entry)
        engineFrame += Int64(frames)
    }

    /// Output `index` of the last block.
    public func output(_ index: Int) -> UnsafePointer<Float> {
        unsafe UnsafePointer(outputs[index])
    }

    /// Lets the driver's clock jump, as a server does that loses frames.
    public func loseFrames(_ frames: Int) {
        engineFrame += Int64(frames)
    }

    /// Primes a stream that will be gone to at `frame`, and waits until it is ready.
    public func primeAndWait(
        _ map: StreamMap, rates: Rates? = nil, stop: Int64? = nil, at frame: EngineFrame = .now
    ) -> PrimedStream {
        precondition(host.canPrime, "a locate before the last crossover is over")
        let ahead = frame.isNow ? 0 : max(0, Int(frame.value - engineFrame))
        host.streaming.waitForData(ahead + 2 * host.configuration.fadeFrames)
        let ready = Monitor()
        let isReady = ReadyFlag()
        let stream = host.prime(map, rates: rates, stop: stop, at: frame) {
            ready.locked {
                isReady.value = true
                ready.wakeAll()
            }
        }
        ready.locked { while !isReady.value { ready.wait() } }
        return stream
    }

    private final class ReadyFlag: @unchecked Sendable {
        var value = false
    }
}

/// What one block needs, as `renderOffline` gets it through the C entry.
@unsafe
private struct OfflineBlock {
    let state: UnsafeMutablePointer<RenderState>
    let outputs: UnsafeMutablePointer<UnsafeMutablePointer<Float>>
    let outputCount: Int
    var engineFrame: Int64
}

/// **Render:** one block, entered as JACK's is, so that RealtimeSanitizer watches every test that renders.
@c @_noLocks private func renderOffline(frames: UInt32, context: UnsafeMutableRawPointer) -> CInt {
    let block = unsafe context.assumingMemoryBound(to: OfflineBlock.self)
    let mode = rt_enter_audio_float_mode()
    unsafe Renderer.render(
        block.pointee.state, outputs: block.pointee.outputs, outputCount: block.pointee.outputCount,
        frames: Int(frames), at: block.pointee.engineFrame)
    rt_leave_audio_float_mode(mode)
    return 0
}
