import EngineHost
import Foundation
import JackClient
import LiveSupport
import RenderCore
import Synchronization
import TestSupport
import Testing

extension LiveTests {
    @Suite struct JackClientTests {
        @Test func `A client knows what its server is`() throws {
            let server = try startServer(period: 128)
            let client = try JackClient(name: "facts", server: server.name)
            #expect(client.name == "facts")
            #expect(client.sampleRate == 48000)
            #expect(client.period == 128)
            #expect(client.isRealTime == server.isRealTime)
            #expect(try client.physicalOutputs() == ["system:playback_1", "system:playback_2"])
        }

        @Test func `A client without a server says that none runs`() throws {
            let error = #expect(throws: JackError.self) {
                try JackClient(name: "nobody", server: "backline-nowhere")
            }
            #expect(error == .noServer(name: "backline-nowhere"))
        }

        @Test func `A name too long is refused before the server sees it`() throws {
            let error = #expect(throws: JackError.self) {
                try JackClient(name: String(repeating: "x", count: 100))
            }
            #expect(error == .nameTooLong(name: String(repeating: "x", count: 100), limit: 64))
        }

        @Test func `A client of a second server is refused while there is one of the first`() throws {
            let server = try startServer()
            let client = try JackClient(name: "first", server: server.name)
            let error = #expect(throws: JackError.self) { try JackClient(name: "second", server: "default") }
            #expect(error?.description.contains("this one has a client on \"\(server.name)\"") == true)
            #expect(client.close())
            #expect(throws: JackError.noServer(name: "backline-nowhere")) {
                try JackClient(name: "second", server: "backline-nowhere")
            }
        }

        @Test func `A name that is taken gets a number`() throws {
            let server = try startServer()
            let first = try JackClient(name: "twin", server: server.name)
            let second = try JackClient(name: "twin", server: server.name)
            #expect(first.name == "twin")
            #expect(second.name != "twin")
            #expect(second.name.hasPrefix("twin"))
            #expect(second.wantedName == "twin")
            try second.registerOutputs(["main.1"])
            #expect(second.outputNames == ["\(second.name):main.1"])
        }

        @Test func `Ports come in the order of their registration and are connected as told`() throws {
            let server = try startServer()
            let rig = try LiveRig()
            let client = try JackClient(name: "ports", server: server.name)
            try client.registerOutputs(["main.1", "main.2", "click.1"])
            try unsafe client.activate(rendering: rig.host.state, of: rig.host)
            defer { client.close() }

            try client.connect("main.1", to: "system:playback_1")
            try client.connect("main.1", to: "system:playback_1")
            try client.connect("ports:main.2", to: "system:playback_2")
            let own = try client.listPorts().filter { $0.name.hasPrefix("ports:") }
            #expect(own.map(\.name) == ["ports:main.1", "ports:main.2", "ports:click.1"])
            #expect(own.map(\.connections) == [["system:playback_1"], ["system:playback_2"], []])
            #expect(own.allSatisfy { $0.direction == .output && $0.isAudio && !$0.isPhysical })

            try client.disconnect("main.1", from: "system:playback_1")
            #expect(try client.listPorts().first { $0.name == "ports:main.1" }?.connections == [])
        }

        @Test func `A connection that cannot be names both ports, the reason and what is near`() throws {
            let server = try startServer()
            let rig = try LiveRig()
            let client = try JackClient(name: "wrong", server: server.name)
            try client.registerOutputs(["main.1"])
            try unsafe client.activate(rendering: rig.host.state, of: rig.host)
            defer { client.close() }

            func message(_ body: () throws -> Void) -> String? {
                #expect(throws: JackError.self, performing: body)?.description
            }
            #expect(
                message { try client.connect("main.1", to: "system:playbak_1") }
                    == "cannot connect \"wrong:main.1\" to \"system:playbak_1\": there is no port \"system:playbak_1\";"
                    + " did you mean \"system:playback_1\" or \"system:playback_2\"?")
            #expect(
                message { try client.connect("mian.1", to: "system:playback_1") }
                    == "cannot connect \"wrong:mian.1\" to \"system:playback_1\": there is no port \"wrong:mian.1\";"
                    + " did you mean \"wrong:main.1\"?")
            #expect(
                message { try client.connect("system:playback_1", to: "system:playback_2") }
                    == "cannot connect \"system:playback_1\" to \"system:playback_2\": \"system:playback_1\" is an"
                    + " input, not an output; list what there is with jack_lsp")
            let refused = message { try client.disconnect("main.1", from: "system:playback_1") }
            #expect(
                refused?.hasPrefix("cannot disconnect \"wrong:main.1\" from \"system:playback_1\": ") == true)
        }

        @Test func `Ports are registered before the client is active`() throws {
            let server = try startServer()
            let rig = try LiveRig()
            let client = try JackClient(name: "late", server: server.name)
            try unsafe client.activate(rendering: rig.host.state, of: rig.host)
            #expect(throws: JackError.alreadyActive(client: "late")) {
                try client.registerOutputs(["main.1"])
            }
            client.close()
            #expect(throws: JackError.serverGone(reason: "the client is closed")) { try client.listPorts() }
        }

        @Test func `A server that is killed says goodbye, and closing ends in time`() async throws {
            let server = try startServer()
            let rig = try LiveRig()
            let client = try JackClient(name: "orphan", server: server.name)
            try client.registerOutputs(["main.1"])
            try unsafe client.activate(rendering: rig.host.state, of: rig.host)
            try await waitUntil("a first cycle") { client.nextEngineFrame.value > 0 }

            kill(try #require(server.process), SIGKILL)
            let event = await firstEvent(of: client.events) { if case .shutdown = $0 { true } else { false } }
            #expect(event != nil)
            #expect(client.isServerGone)
            #expect(throws: JackError.self) { try client.connect("main.1", to: "system:playback_1") }
            let before = ContinuousClock.now
            client.close()
            #expect(ContinuousClock.now - before < .seconds(2.5))
        }

        @Test func `Closing does not wait for a server that hangs`() async throws {
            let server = try startServer()
            let rig = try LiveRig()
            let client = try JackClient(name: "hung", server: server.name)
            try unsafe client.activate(rendering: rig.host.state, of: rig.host)
            let process = try #require(server.process)
            kill(process, SIGSTOP)
            let before = ContinuousClock.now
            let closed = client.close()
            kill(process, SIGCONT)
            #expect(!closed)
            #expect(ContinuousClock.now - before < .seconds(3))
            try await waitUntil("libjack's own end of it") {
                let error = #expect(throws: JackError.self) {
                    try JackClient(name: "next", server: "backline-nowhere")
                }
                return error == .noServer(name: "backline-nowhere")
            }
        }

        @Test func `A server that stalls loses no frame`() async throws {
            let server = try startServer(period: 64)
            let rig = try LiveRig()
            let client = try JackClient(name: "stalled", server: server.name)
            try client.registerOutputs(["main.1"])
            try unsafe client.activate(rendering: rig.host.state, of: rig.host)
            try await waitUntil("a first cycle") { client.nextEngineFrame.value > 0 }
            let process = try #require(server.process)
            kill(process, SIGSTOP)
            try await Task.sleep(for: .milliseconds(200))
            kill(process, SIGCONT)
            let frame = client.nextEngineFrame
            try await waitUntil("a hundred cycles") { client.nextEngineFrame > frame + 6400 }
            #expect(client.statistics?.lostFrames == 0)
        }

        @Test func `A client that was stopped skips what it missed, and never goes back`() async throws {
            // A process of its own, which has a shell wake it again.
            await #expect(processExitsWith: .success) {
                let server = try startServer(period: 256, synchronous: false)
                let rig = try LiveRig()
                let client = try JackClient(name: "stopped", server: server.name)
                try client.registerOutputs(["main.1"])
                try unsafe client.activate(rendering: rig.host.state, of: rig.host)
                try await waitUntil("a first cycle") { client.nextEngineFrame.value > 0 }
                let alarm = Process()
                alarm.executableURL = URL(filePath: "/bin/sh")
                alarm.arguments = [
                    "-c",
                    "while ! grep -q '^State:.*T' /proc/$0/status; do :; done; sleep 0.3; kill -CONT $0",
                    "\(getpid())",
                ]
                try alarm.run()
                kill(getpid(), SIGSTOP)
                let frame = client.nextEngineFrame
                try await waitUntil("twenty cycles") { client.nextEngineFrame > frame + 20 * 256 }
                let statistics = try #require(client.statistics)
                #expect(statistics.lostFrames > 9_600)
                #expect(client.nextEngineFrame.value >= statistics.callbacks * 256 + statistics.lostFrames)
                client.close()
                server.stop()
            }
        }

        @Test func `A change of period is told and loses no frame`() async throws {
            let server = try startServer(period: 1024)
            let rig = try LiveRig()
            let client = try JackClient(name: "period", server: server.name)
            try client.registerOutputs(["main.1"])
            try unsafe client.activate(rendering: rig.host.state, of: rig.host)
            try await waitUntil("a first cycle") { client.nextEngineFrame.value > 0 }
            for period in [64, 8192] {
                try runTool(["jack_bufsize", "\(period)"], server: server.name)
                let event = await firstEvent(of: client.events) { $0 == .period(period) }
                #expect(event == .period(period))
                #expect(client.period == period)
                let frame = client.nextEngineFrame
                try await waitUntil("three more cycles") {
                    client.nextEngineFrame >= frame + 3 * period
                }
            }
            #expect(client.statistics?.reanchorings == 2)
            #expect(client.statistics?.lostFrames == 0)
            #expect(client.statistics?.oversized == 0)
        }

        @Test func `Freewheel is told, and only there the streams are waited for`() async throws {
            let server = try startServer(period: 1024)
            let rig = try LiveRig()
            let client = try JackClient(name: "wheel", server: server.name)
            let hasWaited = UnsafeMutablePointer<Atomic<Bool>>.allocate(capacity: 1)
            unsafe hasWaited.initialize(to: Atomic(false))
            defer { unsafe hasWaited.deallocate() }
            defer { client.close() }
            try client.registerOutputs(["main.1"])
            let hook = unsafe FreewheelWait(
                { _, context in
                    unsafe context!.assumingMemoryBound(to: Atomic<Bool>.self).pointee
                        .store(true, ordering: .relaxed)
                }, context: hasWaited)
            try unsafe client.activate(rendering: rig.host.state, of: rig.host, waiting: hook)
            try await waitUntil("ten cycles") { client.nextEngineFrame.value > 10 * 1024 }
            unsafe #expect(!hasWaited.pointee.load(ordering: .relaxed))

            try runTool(["jack_freewheel", "y"], server: server.name)
            #expect(await firstEvent(of: client.events) { $0 == .freewheel(true) } != nil)
            try await waitUntil("a cycle that waits") {
                unsafe hasWaited.pointee.load(ordering: .relaxed)
            }
            try runTool(["jack_freewheel", "n"], server: server.name)
            #expect(await firstEvent(of: client.events) { $0 == .freewheel(false) } != nil)
            #expect(client.statistics?.lostFrames == 0)
        }

        // What `scripts/test-tsan` must have reported, and alone asks for.
        @Test(.enabled(if: ProcessInfo.processInfo.environment["BACKLINE_TSAN_CONTROL"] != nil))
        func `control: the process thread's state read by another thread is a race`() async throws {
            let server = try startServer()
            let rig = try LiveRig()
            let client = try JackClient(name: "control", server: server.name)
            try client.registerOutputs(["main.1"])
            let state = unsafe rig.host.state
            try unsafe client.activate(rendering: state, of: rig.host)
            let words = UnsafeRawPointer(state)
            var sum: UInt64 = 0
            try await waitUntil("a hundred cycles") {
                for offset in stride(from: 0, to: MemoryLayout<RenderState>.size - 7, by: 8) {
                    sum &+= unsafe words.load(fromByteOffset: offset, as: UInt64.self)
                }
                return client.nextEngineFrame.value > 100 * 256
            }
            client.close()
            print("control: read \(sum)")
        }

        @Test func `Engine frames go on where the last activation ended`() async throws {
            let server = try startServer()
            let rig = try LiveRig()
            let client = try JackClient(name: "again", server: server.name)
            try client.registerOutputs(["main.1"])
            try unsafe client.activate(rendering: rig.host.state, of: rig.host)
            try await waitUntil("ten cycles") { client.nextEngineFrame.value > 2560 }
            client.deactivate()
            let frame = client.nextEngineFrame
            let callbacks = try #require(client.statistics?.callbacks)
            #expect(frame.value == callbacks * 256)
            try unsafe client.activate(rendering: rig.host.state, of: rig.host, startingAt: frame)
            try await waitUntil("another cycle") { client.nextEngineFrame > frame }
            #expect(client.close())
            #expect(client.close())
        }

        @Test(arguments: [256, 1024])
        func `What another client hears is what was rendered, to the bit`(period: Int) async throws {
            // The value tells frame and channel, exact in a float.
            let source = SignalSource(frames: 1 << 22) { frame, channel in Float(frame | Int64(channel) << 22)
            }
            let server = try startServer(period: period)
            let rig = try LiveRig(source)
            let client = try JackClient(name: "ramp", server: server.name)
            try client.registerOutputs(["main.1", "main.2"])
            try unsafe client.activate(rendering: rig.host.state, of: rig.host)
            defer { client.close() }

            let frames = 144_000
            let tool = try Capture.start(["ramp:main.1", "ramp:main.2"], frames: frames, server: server.name)
            try tool.waitUntilConnected()
            let start = client.nextEngineFrame + 20 * period + 77
            try rig.host.send([.start], at: start)
            let capture = try await tool.finish()

            let first = try #require(capture.callbacks.first)
            let silent = Int(client.jackFrame(of: start) - first.jackFrame)
            #expect(client.engineFrame(of: first.jackFrame) + silent == start)
            try #require(silent > 0 && silent < frames / 2)
            for (channel, heard) in capture.channels.enumerated() {
                let sounding = try samples(source, channel: channel, frames: frames - silent)
                expectIdentical(heard, Array(repeating: 0, count: silent) + sounding, "channel \(channel)")
            }
            let statistics = try #require(client.statistics)
            #expect(statistics.lostFrames == 0)
            #expect(statistics.callbacks * Int64(period) >= frames)
            #expect(statistics.cpu.meanNanoseconds > 0)
            #expect(statistics.wall.maximumNanoseconds >= Int64(statistics.wall.meanNanoseconds))
        }
    }
}
