import Foundation
import JackClient
import LiveSupport
import Testing

extension LiveTests {
    @Suite struct JackServerTests {
        @Test func `A private server accepts clients until it is stopped`() throws {
            let server = try startServer()
            let process = try #require(server.process)
            #expect(JackServer.accepts(server.name))
            server.stop()
            #expect(server.process == nil)
            #expect(kill(process, 0) != 0)
            #expect(!JackServer.accepts(server.name))
        }

        @Test func `Private servers have names of their own`() throws {
            let servers = [try startServer(), try startServer()]
            #expect(Set(servers.map(\.name)).count == 2)
        }

        @Test func `Servers that were killed do not fill JACK's list of servers`() throws {
            for _ in 0..<10 {
                let server = try startServer()
                kill(try #require(server.process), SIGKILL)
            }
        }

        @Test func `A server ends with the process that started it, however that ends`() async throws {
            let result = await #expect(
                processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]
            ) {
                let server = try startServer()
                print("server \(server.process!)")
                fflush(nil)
                kill(getpid(), SIGKILL)
            }
            let output = String(decoding: try #require(result).standardOutputContent, as: UTF8.self)
            let process = try #require(output.firstMatch(of: /server (\d+)/).flatMap { pid_t($0.1) })
            try await waitUntil("the server's end") { kill(process, 0) != 0 }
        }

        @Test func `A server that does not come up is an error with its own words`() throws {
            let error = #expect(throws: JackError.self) { try JackServer(driver: .dummy(outputs: 100_000)) }
            guard case .serverNotStarted(_, let reason, let log) = error else {
                Issue.record("not the expected error: \(String(describing: error))")
                return
            }
            #expect(reason == "it ended at once")
            #expect(!log.isEmpty)
        }

        @Test func `A jackd that is not installed is an error that says so`() throws {
            let error = #expect(throws: JackError.self) {
                try JackServer(driver: .dummy(outputs: 2), jackd: "jackd-that-is-not-there")
            }
            #expect(error?.description.contains("jackd-that-is-not-there") == true)
            #expect(error?.description.contains("No such file or directory") == true)
        }

        @Test func `A sound card that cannot be opened is an error, never silence`() throws {
            let card = SoundCard(number: 99, id: "Nowhere", name: "No card", device: 0)
            #expect(throws: JackError.self) { try JackServer(driver: .card(card)) }
        }
    }
}

/// A folder that stands for a machine's files.
private final class FakeRoot {
    let url = FileManager.default.temporaryDirectory.appending(path: "root-\(UUID().uuidString)")
    var path: String { url.path }

    init(_ files: [String: String]) throws {
        for (path, text) in files {
            let file = url.appending(path: path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}

private let cards = [
    "proc/asound/cards": """
     0 [NVidia         ]: HDA-Intel - HDA NVidia
                          HDA NVidia at 0xf7080000 irq 17
     1 [PCH            ]: HDA-Intel - HDA Intel PCH
                          HDA Intel PCH at 0xf7f10000 irq 30

    """,
    "proc/asound/pcm": """
    00-03: HDMI 0 : HDMI 0 : playback 1
    01-00: ALC892 Analog : ALC892 Analog : playback 1 : capture 1
    01-02: ALC892 Alt : ALC892 Alt : capture 1

    """,
]

struct ServerChoiceTests {
    private func choose(
        server: String? = nil, silent: Bool = false, files: [String: String] = [:],
        running: Set<String?> = [],
        environment: [String: String] = [:]
    ) throws -> ServerChoice {
        let root = try FakeRoot(files)
        var surroundings = ServerChoice.Surroundings(
            environment: environment, arguments: ["/opt/backline", "play", "a.wav"])
        surroundings.root = root.path
        surroundings.accepts = { running.contains($0) }
        return try withExtendedLifetime(root) {
            try ServerChoice.choose(server: server, silent: silent, in: surroundings)
        }
    }

    private func message(_ body: () throws -> ServerChoice) -> String {
        #expect(throws: JackError.self) { _ = try body() }?.description ?? ""
    }

    @Test func `The server that runs comes first`() throws {
        #expect(try choose(files: cards, running: [nil]) == .running(name: nil))
        #expect(try choose(server: "studio", files: cards, running: ["studio"]) == .running(name: "studio"))
    }

    @Test func `A named server that does not run is an error`() {
        #expect(message { try choose(server: "studio", running: [nil]) }.contains("\"studio\""))
    }

    @Test func `PipeWire comes next, with the program's own arguments`() throws {
        let files = cards.merging(["run/user/1000/pipewire-0": "", "usr/bin/pw-jack": ""]) { $1 }
        let environment = ["XDG_RUNTIME_DIR": "/run/user/1000", "PATH": "/usr/local/bin:/usr/bin"]
        let again = ["/usr/bin/pw-jack", "/opt/backline", "play", "a.wav"]
        #expect(try choose(files: files, environment: environment) == .pipeWire(arguments: again))

        let tried = environment.merging(["LD_LIBRARY_PATH": "/usr/lib/x86_64-linux-gnu/pipewire-0.3/jack"]) {
            $1
        }
        #expect(message { try choose(files: files, environment: tried) }.contains("gets no connection"))
        let bare = cards.merging(["run/user/1000/pipewire-0": ""]) { $1 }
        #expect(
            message { try choose(files: bare, environment: environment) }.contains(
                "apt install pipewire-jack"))
    }

    @Test func `Then a sound card's loudspeakers, before a video link`() throws {
        let card = SoundCard(number: 1, id: "PCH", name: "HDA Intel PCH, ALC892 Analog", device: 0)
        #expect(try choose(files: cards) == .soundCard(card))
        #expect(card.alsaName == "hw:PCH,0")
    }

    @Test func `A card that another program holds is an error that names it`() throws {
        let status = "state: RUNNING\nowner_pid   : 4711\n"
        let busy = cards.merging([
            "proc/asound/card1/pcm0p/sub0/status": status, "proc/asound/card0/pcm3p/sub0/status": status,
            "proc/4711/comm": "pulseaudio\n",
        ]) { $1 }
        let text = message { try choose(files: busy) }
        #expect(text.contains("HDA Intel PCH, ALC892 Analog (hw:PCH,0): pulseaudio (process 4711) holds it"))
    }

    @Test func `Without a card it is the dummy driver, and with one only who asks for it gets it`() throws {
        #expect(try choose() == .dummy)
        #expect(try choose(silent: true, files: cards, running: [nil]) == .dummy)
        #expect(
            message { try choose(server: "a", silent: true, running: ["a"]) }.contains("exclude each other"))
    }
}
