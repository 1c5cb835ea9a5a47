import Session
import Testing

struct TimeValueTests {
    @Test func `seconds are rounded half to even and frames are themselves`() {
        #expect(TimeValue.seconds(0.5).frames(at: 1) == 0)
        #expect(TimeValue.seconds(1.5).frames(at: 1) == 2)
        #expect(TimeValue.seconds(2.5).frames(at: 1) == 2)
        #expect(TimeValue.seconds(0.1).frames(at: 48_000) == 4_800)
        #expect(TimeValue.seconds(12.5).frames(at: 44_100) == 551_250)
        #expect(TimeValue.frames(7).frames(at: 44_100) == 7)
    }

    @Test func `what no frame number holds ends at the largest`() {
        #expect(TimeValue.seconds(.infinity).frames(at: 48_000) == .max)
        #expect(TimeValue.seconds(-1e300).frames(at: 48_000) == .min)
        #expect(TimeValue.seconds(.nan).frames(at: 48_000) == 0)
    }
}
