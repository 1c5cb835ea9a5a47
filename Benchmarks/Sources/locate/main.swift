// Plays a session through JACK and goes from place to place, or starts again and again, and prints when each was
// asked for on the monotonic clock: what another program hears is compared with that.
//
//     locate SERVER SESSION CLIENT-PORT locate N PLACE…    N times, to each PLACE (seconds) in turn
//     locate SERVER SESSION CLIENT-PORT start N            N times from the beginning, primed
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
guard words.count >= 6, let count = Int(words[5]) else {
    fatalError("locate SERVER SESSION OUTPUT=PORT locate|start N [PLACE…]")
}
let connection = words[3].split(separator: "=", maxSplits: 1).map(String.init)
let places = words[6...].compactMap(Double.init)

var options = Engine.Options()
options.server = words[1]
options.connections = [(output: connection[0], port: connection[1])]
let engine = try await Engine(SessionDocument(reading: words[2]), options: options)
say("ready \(now())")
try await Task.sleep(for: .milliseconds(500))
if words[4] == "locate" {
    try await engine.play()
    try await Task.sleep(for: .seconds(1))
    for n in 0..<count {
        let asked = now()
        await engine.locate(to: places[n % places.count])
        say("asked \(asked) returned \(now())")
        try await Task.sleep(for: .milliseconds(400 + n % 7 * 3))
    }
} else {
    for n in 0..<count {
        let asked = now()
        try await engine.play()
        say("asked \(asked) returned \(now())")
        try await Task.sleep(for: .milliseconds(300 + n % 7 * 3))
        try await engine.stop()
        try await Task.sleep(for: .milliseconds(300))
    }
}
let report = await engine.close()
say("done underruns \(report.underruns) xruns \(report.xruns) lost \(report.lostFrames)")
