import Glibc

/// Memory for rings: aligned to huge pages, touched beforehand and locked where the system permits, so that the
/// audio thread meets neither a page fault nor more address translations than it must (docs/realtime.md).
///
/// Used by control alone.
@safe
final class RingArena {
    @unsafe
    private struct Chunk {
        let mapping: UnsafeMutableRawPointer
        let mappedBytes: Int
        let start: UnsafeMutableRawPointer
        let bytes: Int
        var used = 0
    }

    private static let hugePage = 2 << 20

    private var chunks: [Chunk] = unsafe []
    private var free: [Int: [UnsafeMutableRawPointer]] = unsafe [:]
    /// Whether the system let all of it be locked in memory.
    private(set) var isLocked = true

    deinit {
        unsafe chunks.forEach { chunk in unsafe munmap(chunk.mapping, chunk.mappedBytes) }
    }

    /// Maps a chunk for `bytes` more in one piece.
    func reserve(bytes: Int) {
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
        unsafe chunks.append(Chunk(mapping: mapping, mappedBytes: mapped, start: start, bytes: size))
    }

    /// Zeroed memory aligned to a cache line.
    func allocate(bytes wanted: Int) -> UnsafeMutableRawPointer {
        let bytes = (wanted + 127) / 128 * 128
        if let reused = unsafe free[bytes]?.popLast() {
            unsafe memset(reused, 0, bytes)
            return unsafe reused
        }
        let fits = unsafe chunks.lastIndex { unsafe $0.bytes - $0.used >= bytes }
        if fits == nil { reserve(bytes: bytes) }
        let index = unsafe fits ?? chunks.count - 1
        let memory = unsafe chunks[index].start + chunks[index].used
        unsafe chunks[index].used += bytes
        return unsafe memory
    }

    /// Gives memory of `allocate(bytes:)` back.
    func release(_ memory: UnsafeMutableRawPointer, bytes wanted: Int) {
        unsafe free[(wanted + 127) / 128 * 128, default: []].append(memory)
    }
}
