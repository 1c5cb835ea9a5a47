import RealtimePrimitives
import TestSupport
import Testing

/// An element that shows whether it was written as a whole: every part follows from the number.
private struct Numbered: BitwiseCopyable, Equatable {
    let number: UInt64
    let scrambled: UInt64
    let inverted: UInt64

    init(_ number: UInt64) {
        self.number = number
        scrambled = number &* 0x9E37_79B9_7F4A_7C15
        inverted = ~number
    }
}

/// Two threads at once, each as fast as it can. `scripts/test-tsan` runs these in release under ThreadSanitizer,
/// and again with the ring's orderings made relaxed, which it must notice.
@Suite("Two threads")
struct ConcurrencyTests {
    private static let count: UInt64 = 2_000_000

    @Test("every element of a ring arrives once, whole and in order", arguments: [1, 8, 1024])
    func ring(capacity: Int) {
        let bytes = Ring<Numbered>.byteCount(capacity: capacity)
        let memory = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 128)
        defer { unsafe memory.deallocate() }
        let ring = unsafe Ring<Numbered>(in: memory, capacity: capacity)
        var reader = ring.reader
        let producer = Handed(ring.writer)
        // A ring of one element makes the threads take turns: fewer will do.
        let count = capacity == 1 ? Self.count / 20 : Self.count
        let thread = OwnThread {
            var number: UInt64 = 0
            while number < count {
                if producer.value.write(Numbered(number)) { number += 1 } else { OwnThread.yield() }
            }
        }
        var next: UInt64 = 0
        var wrong: UInt64 = 0
        while next < count {
            guard let element = reader.read() else {
                OwnThread.yield()
                continue
            }
            if element != Numbered(next) { wrong += 1 }
            next += 1
        }
        thread.join()
        let left = reader.read()
        #expect(wrong == 0)
        #expect(left == nil)
    }

    @Test("a batch is never seen in part")
    func batches() {
        let bytes = Ring<Numbered>.byteCount(capacity: 64)
        let memory = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 128)
        defer { unsafe memory.deallocate() }
        let ring = unsafe Ring<Numbered>(in: memory, capacity: 64)
        var reader = ring.reader
        let producer = Handed(ring.writer)
        let thread = OwnThread {
            // Batches of 1 to 13 elements, each of the same number.
            var batch: UInt64 = 0
            while batch < Self.count / 8 {
                var isComplete = true
                for _ in 0...(batch % 13) where isComplete {
                    isComplete = producer.value.stage(Numbered(batch))
                }
                if isComplete {
                    producer.value.publish()
                    batch += 1
                } else {
                    producer.value.discardStaged()
                    OwnThread.yield()
                }
            }
        }
        var torn: UInt64 = 0
        var wrong: UInt64 = 0
        var batch: UInt64 = 0
        while batch < Self.count / 8 {
            guard let first = reader.read() else {
                OwnThread.yield()
                continue
            }
            if first != Numbered(batch) { wrong += 1 }
            for _ in 0..<(batch % 13) {
                guard let other = reader.read() else {
                    torn += 1
                    break
                }
                if other != Numbered(batch) { wrong += 1 }
            }
            batch += 1
            if torn > 0 { break }
        }
        // Whatever happened, the producer must find room to end.
        let drain = batch < Self.count / 8
        while drain, batch < Self.count / 8 {
            if let element = reader.read() { batch = element.number + 1 } else { OwnThread.yield() }
        }
        thread.join()
        #expect(torn == 0)
        #expect(wrong == 0)
    }

    @Test("a cell never shows a torn or an older value, and in the end the newest")
    func latest() {
        let cell = UnsafeMutablePointer<Latest<Numbered>>.allocate(capacity: 1)
        unsafe cell.initialize(to: Latest(Numbered(0)))
        defer {
            unsafe cell.deinitialize(count: 1)
            unsafe cell.deallocate()
        }
        var reader = unsafe LatestReader(cell)
        let writer = Handed(unsafe LatestWriter(cell))
        let thread = OwnThread {
            for number in 1...Self.count { writer.value.write(Numbered(number)) }
        }
        var torn = 0
        var backwards = 0
        var seen: UInt64 = 0
        while seen < Self.count {
            let value = reader.read()
            if value != Numbered(value.number) { torn += 1 }
            if value.number < seen { backwards += 1 }
            if value.number == seen { OwnThread.yield() }
            seen = max(seen, value.number)
        }
        thread.join()
        let hasNews = reader.hasNews
        #expect(torn == 0)
        #expect(backwards == 0)
        #expect(!hasNews)
    }
}
