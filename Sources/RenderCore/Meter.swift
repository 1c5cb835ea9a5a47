import Synchronization

/// What one channel did since its meter was last collected: raw numbers, from which a display makes decibels.
public struct ChannelMeter: BitwiseCopyable, Sendable {
    /// Sum of the squares before the fader.
    public var sumOfSquaresBefore: Double = 0
    /// Sum of the squares after the fader.
    public var sumOfSquares: Double = 0
    /// Highest magnitude before the fader.
    public var peakBefore: Float = 0
    /// Highest magnitude after the fader.
    public var peak: Float = 0
    /// Samples above full scale (magnitude over 1) after the fader.
    public var clips: UInt32 = 0

    /// A meter that has seen nothing.
    @_noLocks public init() {}
}

/// What one run of frames of a channel measured, before it is added to the channel's meter.
struct ChannelTally: BitwiseCopyable {
    private var peakBefore: Float = 0
    private var peak: Float = 0
    private var sumBefore: Float = 0
    private var sum: Float = 0
    private var clips: UInt32 = 0

    @_noLocks init() {}

    /// Takes in one sample, before the fader and after it.
    @_noLocks @inline(__always)
    mutating func add(before x: Float, after y: Float) {
        peakBefore = max(peakBefore, x.magnitude)
        peak = max(peak, y.magnitude)
        sumBefore += x * x
        sum += y * y
        clips &+= y.magnitude > 1 ? 1 : 0
    }

    /// Adds the run to a meter.
    @_noLocks @inline(__always)
    func add(to meter: UnsafeMutablePointer<ChannelMeter>) {
        unsafe meter.pointee.peakBefore = max(meter.pointee.peakBefore, peakBefore)
        unsafe meter.pointee.peak = max(meter.pointee.peak, peak)
        unsafe meter.pointee.sumOfSquaresBefore += Double(sumBefore)
        unsafe meter.pointee.sumOfSquares += Double(sum)
        unsafe meter.pointee.clips &+= clips
    }
}

/// The meters of all channels, twice: the audio thread fills one bank while control reads the other, and they
/// change places when control asks, so that neither ever waits.
@safe
public struct MeterBanks: ~Copyable {
    var active: UnsafeMutablePointer<ChannelMeter>
    var other: UnsafeMutablePointer<ChannelMeter>
    /// Frames that the active bank has seen.
    var frames: Int64 = 0
    /// Frames that the bank in control's hands has seen.
    public var collectedFrames: Int64 = 0
    /// Raised by control, once the bank in its hands is cleared.
    public let asked: Atomic<UInt32>
    /// Raised by the audio thread when the banks have changed places.
    public let answered: Atomic<UInt32>

    /// Two banks of cleared meters; `second` is in control's hands first.
    @_noLocks public init(
        first: UnsafeMutablePointer<ChannelMeter>, second: UnsafeMutablePointer<ChannelMeter>
    ) {
        unsafe active = first
        unsafe other = second
        asked = Atomic(0)
        answered = Atomic(0)
    }

    /// The bank in control's hands, valid while `asked` equals `answered`.
    public var collected: UnsafeMutablePointer<ChannelMeter> { @_noLocks get { unsafe other } }

    /// **Render:** changes the banks over if control has asked.
    @_noLocks mutating func answer() {
        let request = asked.load(ordering: .acquiring)
        if request == answered.load(ordering: .relaxed) { return }
        unsafe swap(&active, &other)
        collectedFrames = frames
        frames = 0
        answered.store(request, ordering: .releasing)
    }
}
