import Foundation
import Testing

/// What the program says of itself, and of a command line that is wrong.
struct CommandLineTests {
    let bench: Bench

    init() throws { bench = try Bench() }

    @Test func `help is there for the program and for every command, on standard output`() async throws {
        let all = try await Program.run("--help", in: bench)
        #expect(all.status == 0 && all.errors == "")
        for command in ["play", "render", "info", "new", "doctor"] {
            #expect(all.output.contains("\n  \(command) "))
            for words in [
                [command, "--help"], [command, "-h"], ["help", command], [command, "--json", "--help"],
            ] {
                let help = try await Program.run(words, in: bench)
                #expect(help.status == 0 && help.errors == "", "\(words)")
                #expect(help.output.hasPrefix("backline \(command): "), "\(words)")
                #expect(help.output.contains("usage: backline \(command) "), "\(words)")
            }
        }
        #expect(try await Program.run("help", in: bench).output == all.output)
    }

    @Test func `help of a command names every option of the issue`() async throws {
        let play = try await Program.run("play", "--help", in: bench).output
        for option in [
            "--server", "--client", "--from", "--to", "--seconds", "--loop A:B", "--at-end quit|stop|rewind",
            "--connect BUS.CHANNEL=PORT", "--strict", "--silent", "--json", "--events", "space pauses",
        ] {
            #expect(play.contains(option), "\(option)")
        }
        let render = try await Program.run("render", "--help", in: bench).output
        for option in [
            "-o FILE", "--format", "--bits 16|24|32f", "--rate", "--block", "--from", "--seconds", "--force",
            "--json",
        ] {
            #expect(render.contains(option), "\(option)")
        }
        for line in (play + render).split(separator: "\n") { #expect(line.count <= 120, "\(line)") }
    }

    @Test func `the version is one line`() async throws {
        let version = try await Program.run("--version", in: bench)
        #expect(version.status == 0)
        #expect(version.output.wholeMatch(of: /backline \d+\.\d+\.\d+\n/) != nil, "\(version.output)")
    }

    @Test func `without a command the help is an error`() async throws {
        let ending = try await Program.run(in: bench)
        #expect(ending.status == 2 && ending.output == "")
        #expect(ending.errors.contains("usage: backline COMMAND"))
    }

    @Test(arguments: [
        (["rendr"], "did you mean render?"),
        (["plya", "a.wav"], "did you mean play?"),
        (["frobnicate"], "there are play, render, info, new, doctor; see backline --help"),
        (["--versio"], "did you mean --version?"),
        (["help", "inof"], "did you mean info?"),
        (["play", "--silnt", "a.wav"], "unknown option --silnt; did you mean --silent?"),
        (["render", "--bit=16", "a.wav"], "unknown option --bit; did you mean --bits?"),
        (["render", "-x"], "unknown option -x; see --help"),
        (["render", "a.wav"], "say where to write with -o FILE"),
        (["render", "a.wav", "-o"], "-o needs a value: -o FILE"),
        (["render", "a.wav", "-o", "b.wav", "--bits", "20"], "--bits 20: expected one of 16, 24, 32f"),
        (["render", "a.wav", "-o", "b.wav", "--format", "flak"], "did you mean flac?"),
        (["render", "a.wav", "-o", "b.wav", "--block", "0"], "expected a number from 1 to 8192"),
        (["render", "a.wav", "-o", "b.wav", "--block", "8193"], "expected a number from 1 to 8192"),
        (["render", "a.wav", "-o", "b.wav", "--rate", "fast"], "--rate fast: expected a number"),
        (["render", "a.wav", "-o", "b.wav", "--seconds", "0"], "expected more than 0 seconds"),
        (["render", "a.wav", "-o", "b.wav", "--from", "-1"], "expected seconds, as 12.5 or 1:30"),
        (["render", "a.wav", "-o", "b.wav", "--from", "nan"], "expected seconds"),
        (["render", "a.wav", "-o", "b.wav", "--from", "1e300"], "expected seconds"),
        (["render", "-o", "b.wav"], "name a session file, or sound files"),
        (["render", "-o", "b.wav", "a.json", "b.wav"], "not both"),
        (["render", "a.wav", "-o", "b.wav", "--json=yes"], "--json takes no value"),
        (["play"], "name a session file, or sound files"),
        (["play", "a.wav", "--at-end", "qit"], "expected one of quit, stop, rewind; did you mean quit?"),
        (["play", "a.wav", "--loop", "2:1"], "the second 0.01 s or more behind the first"),
        (["play", "a.wav", "--loop", "2"], "expected two times in seconds"),
        (["play", "a.wav", "--loop", "1e300:2e300"], "expected two times in seconds"),
        (["play", "a.wav", "--seconds", "999999999:59", "--from", "1"], "expected seconds"),
        (["play", "a.wav", "--from", "2", "--to", "1"], "--to 1.0 is not behind --from 2.0"),
        (["play", "a.wav", "--connect", "main.1"], "expected BUS.CHANNEL=PORT, as main.1=system:playback_1"),
        (["play", "a.wav", "--json", "--events"], "--json and --events exclude each other"),
        (["play", "a.wav", "--seconds", "0"], "expected more than 0 seconds"),
        (["play", "a.wav", "--speed", "3"], "--speed 3: expected a number from 0.5 to 2"),
        (["play", "a.wav", "--speed", "0.49"], "--speed 0.49: expected a number from 0.5 to 2"),
        (["play", "a.wav", "--speed", "nan"], "--speed nan: expected a number from 0.5 to 2"),
        (["play", "a.wav", "--pitch", "x"], "--pitch x: expected a number from -12 to 12"),
        (["play", "a.wav", "--pitch", "12.1"], "--pitch 12.1: expected a number from -12 to 12"),
        (["play", "a.wav", "--mode", "slow"], "--mode slow: expected one of fine, fast, tape"),
        (["play", "a.wav", "--mode", "fats"], "did you mean fast?"),
        (["play", "a.wav", "--pitch", "2", "--mode", "tape"], "choose --mode fine or fast"),
        (["render", "a.wav", "-o", "b.wav", "--speed", "1.25x"], "--speed 1.25x: expected a number"),
        (["render", "a.wav", "-o", "b.wav", "--pitch=2", "--mode=tape"], "choose --mode fine or fast"),
        (["render", "a.wav", "-o", "b.wav", "--sped", "2"], "did you mean --speed?"),
        (["info"], "name a file"),
        (["new"], "name the session to write, then sound files or a folder"),
        (["new", "song"], "name sound files, or a folder of them, behind song"),
        (["new", "a.wav", "b.wav"], "begin with the session to write, as song.backline.json"),
        (["new", "song", "b.json"], "b.json is a session; name sound files"),
        (["doctor", "me"], "unexpected \"me\""),
    ])
    func `a wrong command line ends with 2 and the right thing`(words: [String], says: String) async throws {
        let ending = try await Program.run(words, in: bench)
        #expect(ending.status == 2 && ending.signal == nil)
        #expect(ending.output == "")
        #expect(ending.errors.hasPrefix("backline: "))
        #expect(ending.errors.contains(says), "\(ending.errors)")
        #expect(bench.names == [], "nothing was made")
    }

    @Test func `what begins with a dash is a file after two dashes`() async throws {
        try await bench.tone("tone.wav", seconds: 0.1)
        try FileManager.default.moveItem(atPath: bench.path("tone.wav"), toPath: bench.path("--tone.wav"))
        #expect(try await Program.run("info", "--", "--tone.wav", in: bench).status == 0)
    }

    @Test func `output that cannot be written is an error`() async throws {
        try await bench.tone("tone.wav", seconds: 0.1)
        let words = ["sh", "-c", "exec \"$0\" info tone.wav > /dev/full", Program.path]
        let ending = try await Program.start(words, in: bench).ending()
        #expect(ending.status == 1)
        #expect(ending.errors.contains("cannot write to standard output: No space left on device"))
    }

    @Test func `names from files cannot steer the terminal`() async throws {
        try bench.session(tracks: [#"{"id": "a", "file": "\u001b[2Jmissing.wav"}"#])
        let ending = try await Program.run("info", "session.backline.json", in: bench)
        #expect(ending.status == 3)
        #expect(!(ending.output + ending.errors).contains("\u{1B}"))
        #expect(ending.output.contains("[2Jmissing.wav"))
    }
}
