import Glibc
import RenderCore

/// Memory for the tracks' rings, in banks: a bank holds one page of each of its tracks side by side, then the next
/// of each, so that a block's data of all tracks is one stretch of memory. It is aligned to huge pages, touched
/// beforehand and locked where the system permits: the audio thread meets no page fault (docs/realtime.md).
///
/// Used by control alone.
@safe
final class RingArena {
    @unsafe
    private struct Bank {
        let mapping: UnsafeMutableRawPointer
        let mappedBytes: Int
        let start: UnsafeMutablePointer<Float>
        let pageStride: Int
        /// Channels that have their place in it, and how many there can be.
        var used = 0
        let channels: Int
    }

    private static let hugePage = 2 << 20

    private let ringFrames: Int
    private var banks: [Bank] = unsafe []
    private var free: [Int: [TrackRing]] = [:]
    /// Whether the system let all of it be locked in memory.
    private(set) var isLocked = true

    /// An arena for rings of two lanes, each of `ringFrames` frames.
    init(ringFrames: Int) {
        self.ringFrames = ringFrames
    }

    deinit {
        unsafe banks.forEach { bank in unsafe munmap(bank.mapping, bank.mappedBytes) }
    }

    /// Maps a bank for tracks with so many channels altogether.
    func reserve(channels: Int) {
        let pageStride = Self.pageStride(channels: channels)
        let bytes = 2 * ringFrames / TrackRing.pageFrames * pageStride * MemoryLayout<Float>.stride
        let size = (bytes + Self.hugePage - 1) / Self.hugePage * Self.hugePage
        let mapped = size + Self.hugePage
        let mapping = unsafe mmap(nil, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let mapping = unsafe mapping, unsafe mapping != MAP_FAILED else {
            fatalError("backline: out of memory: cannot map \(mapped) bytes for stream buffers")
        }
        let start = unsafe mapping.alignedUp(toMultipleOf: Self.hugePage)
        unsafe madvise(start, size, Int32(MADV_HUGEPAGE))
        if unsafe mlock(start, size) != 0 { isLocked = false }
        unsafe memset(start, 0, size)
        unsafe banks.append(
            Bank(
                mapping: mapping, mappedBytes: mapped,
                start: start.bindMemory(to: Float.self, capacity: size / MemoryLayout<Float>.stride),
                pageStride: pageStride, channels: channels))
    }

    /// A ring for a track of `channels` channels. What it holds is undefined until it is written.
    func allocate(channels: Int) -> TrackRing {
        if let reused = free[channels]?.popLast() { return reused }
        let fits = unsafe banks.lastIndex { unsafe $0.channels - $0.used >= channels }
        if fits == nil { reserve(channels: channels) }
        let index = unsafe fits ?? banks.count - 1
        let bank = unsafe banks[index]
        unsafe banks[index].used += channels
        return unsafe TrackRing(
            samples: bank.start + bank.used * TrackRing.pageFrames, pageStride: bank.pageStride,
            channelCount: channels)
    }

    /// Gives a ring of `allocate(channels:)` back.
    func release(_ ring: TrackRing) {
        free[ring.channelCount, default: []].append(ring)
    }

    /// Samples from a page to the next of the same track. Not a multiple of 4 kB: a track's pages, which streaming
    /// writes one after the other, would all fall into the same few places of the processor's caches.
    private static func pageStride(channels: Int) -> Int {
        let samples = channels * TrackRing.pageFrames
        return samples % 1024 == 0 ? samples + TrackRing.pageFrames : samples
    }
}
