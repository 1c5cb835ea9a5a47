import CRealtime
import Testing

#if canImport(Glibc)
    import Glibc
#endif

/// What must never be in a callback; that nothing of the kind is there is what the other tests prove, which all
/// render through the same entry.
@c private func allocatingCallback(frames: UInt32, context: UnsafeMutableRawPointer) -> CInt {
    let list = [Int](repeating: 1, count: Int(frames))
    return CInt(truncatingIfNeeded: list.reduce(0, &+))
}

@c private func lockingCallback(frames: UInt32, context: UnsafeMutableRawPointer) -> CInt {
    var mutex = pthread_mutex_t()
    pthread_mutex_init(&mutex, nil)
    return pthread_mutex_lock(&mutex)
}

@c private func quietCallback(frames: UInt32, context: UnsafeMutableRawPointer) -> CInt {
    context.assumingMemoryBound(to: UInt32.self).pointee = frames
    return 0
}

/// Runs `render` as a server would run the process callback.
private func enter(_ render: @convention(c) (UInt32, UnsafeMutableRawPointer) -> CInt) -> UInt32 {
    var heard: UInt32 = 0
    var never: UInt32 = 0
    withUnsafeMutablePointer(to: &heard) { heard in
        withUnsafePointer(to: &never) { never in
            var entry = rt_entry(
                render: render, context: UnsafeMutableRawPointer(heard), wait_for_streams: nil,
                wait_context: nil, may_wait: never)
            _ = rt_enter(64, &entry)
        }
    }
    return heard
}

/// The sanitizer's first line that says what it met.
private func complaint(_ told: String) -> Substring {
    told.split(separator: "\n").first(where: { $0.contains("Intercepted") }) ?? "nothing"
}

/// The controls of `scripts/test-rtsan`: they run only in its build.
@Suite("RealtimeSanitizer", .enabled(if: rt_is_watched()))
struct RealtimeSanitizerTests {
    @Test("control: an array made in a callback is caught")
    func allocation() async throws {
        let result = try #require(
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = enter(allocatingCallback)
            })
        let told = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(told.contains("RealtimeSanitizer"), "\(told)")
        #expect(told.contains("allocatingCallback"), "\(told)")
        print("control: an array made in a callback is caught:", complaint(told))
    }

    @Test("control: a lock taken in a callback is caught")
    func lock() async throws {
        let result = try #require(
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = enter(lockingCallback)
            })
        let told = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(told.contains("RealtimeSanitizer"), "\(told)")
        print("control: a lock taken in a callback is caught:", complaint(told))
    }

    @Test("a callback that does neither is not complained about")
    func quiet() async {
        await #expect(processExitsWith: .success) {
            precondition(enter(quietCallback) == 64)
        }
    }
}
