import RealtimePrimitives
import Testing

@Suite("Ring")
struct RingTests {
    @Test("elements come out in order, and a full ring refuses")
    func order() {
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: Ring<Int>.byteCount(capacity: 8), alignment: 128)
        defer { unsafe memory.deallocate() }
        let ring = unsafe Ring<Int>(in: memory, capacity: 8)
        var writer = ring.writer
        var reader = ring.reader
        for round in 0..<5 {
            for i in 0..<8 {
                let done = writer.write(round * 8 + i)
                #expect(done)
            }
            let r1 = writer.write(99)
            #expect(!r1)
            for i in 0..<8 {
                let done = reader.read()
                #expect(done == round * 8 + i)
            }
            let r2 = reader.read()
            #expect(r2 == nil)
        }
    }

    @Test("a batch shows as a whole or not at all")
    func batches() {
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: Ring<Int>.byteCount(capacity: 4), alignment: 128)
        defer { unsafe memory.deallocate() }
        let ring = unsafe Ring<Int>(in: memory, capacity: 4)
        var writer = ring.writer
        var reader = ring.reader
        let r3 = writer.stage(1)
        #expect(r3)
        let r4 = writer.stage(2)
        #expect(r4)
        let r5 = reader.read()
        #expect(r5 == nil)
        writer.publish()
        let r6 = reader.read()
        #expect(r6 == 1)
        let r7 = writer.stage(3)
        #expect(r7)
        writer.discardStaged()
        let r8 = writer.write(4)
        #expect(r8)
        let r9 = reader.read()
        #expect(r9 == 2)
        let r10 = reader.read()
        #expect(r10 == 4)
        let r11 = reader.read()
        #expect(r11 == nil)
    }
}
