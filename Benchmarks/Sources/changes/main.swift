// Plays a session through JACK and changes its rate again and again, to rates between 0.625 and 1.6, and prints how
// long each call took and, in the end, what the engine reports.
//
//     changes SERVER SESSION N MS    N changes, one every MS milliseconds
import Backline
import Foundation

func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}

let words = CommandLine.arguments
guard words.count == 5, let count = UInt64(words[3]), let milliseconds = UInt64(words[4]) else {
    fatalError("changes SERVER SESSION N MS")
}

var options = Engine.Options()
options.server = words[1]
let engine = try await Engine(SessionDocument(reading: words[2]), options: options)
let listener = Task {
    for await event in engine.events {
        switch event {
        case .notice(let text): say("notice \(text)")
        case .underrun(let track, let cause): say("underrun \(track) \(cause)")
        default: break
        }
    }
}
try await engine.play()
try await Task.sleep(for: .seconds(1))
let began = now()
for n in 0..<count {
    // By the clock, so that what a call takes does not make the next one later.
    let due = began + n * milliseconds * 1_000_000
    let early = Int64(due) - Int64(now())
    if early > 0 { try await Task.sleep(for: .nanoseconds(early)) }
    let rate = Double.random(in: 0.625...1.6)
    let asked = now()
    try await engine.edit { $0.rate = rate }
    say("changed \((now() - asked) / 1_000) late \(early < 0 ? -early / 1_000 : 0)")
}
let report = await engine.close()
await listener.value
say(
    "done underruns \(report.underruns) xruns \(report.xruns) lost \(report.lostFrames) frames \(report.frames)"
)
