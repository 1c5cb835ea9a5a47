"""From a command to its first sample at another client, with a server running; seeking; primed starts.

`hear` is an independent JACK client that notes when a level appears at its input. What tells the place is a stem
that holds another level in each section of five seconds, alone on a bus; 31 stems of music play beside it.
"""
import time

from common import *

SECTION, SECTIONS = 5, 12


def code(first, count):
    """Section k holds the level (k + 1) / 20."""
    level = (numpy.arange(first, first + count) // (SECTION * RATE) + 1) / 20
    return numpy.stack([level, level], axis=1)


def code_files():
    folder = os.path.join(WORK, "code")
    os.makedirs(folder, exist_ok=True)
    wav, flac = os.path.join(folder, "code.wav"), os.path.join(folder, "code.flac")
    if not os.path.exists(flac):
        write_wav(wav, code, SECTION * SECTIONS)
        subprocess.run(["flac", "--totally-silent", "-f", "-o", flac, wav], check=True)
    keep_cached([wav, flac])
    return {"wav": wav, "flac": flac}


def as_flac(paths):
    """The same stems in FLAC, in the page cache."""
    coded = []
    for path in paths:
        to = path[:-4] + ".flac"
        if not os.path.exists(to):
            subprocess.run(["flac", "--totally-silent", "-f", "-o", to, path], check=True)
        coded.append(to)
    keep_cached(coded)
    return coded


def coded_session(name, code_file, stems):
    """The code alone on its bus; all else beside it."""
    tracks = [{"id": "code", "file": code_file, "output": "place"}] + [
        {"id": f"t{i + 1}", "file": file, "volume": 0.5, "output": "main"} for i, file in enumerate(stems)]
    buses = [{"id": "place", "channels": 2}, {"id": "main", "channels": 2,
             "connect": [["system:playback_1"], ["system:playback_2"]]}]
    return session_file(name, None, tracks=tracks, buses=buses)


def first_sound(hear, command, log, after):
    """Milliseconds from a command to the first sample that is heard."""
    began = time.monotonic_ns()
    process = spawn(command, log)
    line = hear.wait_for("move", after=after)
    stop(process, signal.SIGINT if "backline" in command[0] else signal.SIGTERM)
    # Silence must be there again before the next.
    time.sleep(0.5)
    return (int(line[1]) - began) / 1e6 if line else float("nan")


codes = code_files()
music_wav = stem_files(31, 60)
music_flac = as_flac(music_wav)

# From the command to the first sample.
for n in (1, 32):
    wav = ([codes["wav"]] + music_wav)[:n]
    flac = ([codes["flac"]] + music_flac)[:n]
    commands = {
        "backline.wav": session_file(f"start-{n}", wav), "backline.flac": session_file(f"start-flac-{n}", flac),
        "ecasound.wav": None}
    with Server(256) as server:
        hear = Lines([os.path.join(TOOLS, "hear"), "hear"])
        hear.wait_for("ready")
        taken = {name: [] for name in commands}
        for turn in range(runs(10) + 1):
            for name, session in commands.items():
                command = (ecasound(wav, 256, output="jack,hear") if session is None else
                           [PROGRAM, "play", session, "--server", server.name, "--json",
                            "--connect", "main.1=hear:in_1", "--connect", "main.2=hear:in_2"])
                value = first_sound(hear, command, "start.log", len(hear.lines))
                if turn > 0:
                    taken[name].append(value)
        hear.end()
    middle = {name: figure(f"start.{name}.n{n}", values, "ms") for name, values in taken.items()}
    ratio(f"start.n{n}", middle["backline.wav"], middle["ecasound.wav"])
    for kind in ("wav", "flac"):
        check(f"command-to-first-sample-{n}-{kind}", middle[f"backline.{kind}"], "ms", "<=", 300)


def matched(asked, moves):
    """For each asking the first move after it, in milliseconds."""
    taken = []
    for time_asked in asked:
        later = [t for t in moves if t > time_asked]
        if later and later[0] - time_asked < 300e6:
            taken.append((later[0] - time_asked) / 1e6)
    return taken


# From asking for another place, or for a start, to hearing it.
for kind, stems in (("wav", music_wav), ("flac", music_flac)):
    session = coded_session(f"locate-{kind}", codes[kind], stems)
    for period in (64, 256):
        for what, places in (("locate", ["32.5", "7.5", "48", "22.25", "57.5", "12.75"]), ("start", [])):
            count = runs(40 if what == "locate" else 20)
            with Server(period) as server:
                hear = Lines([os.path.join(TOOLS, "hear"), "hear"])
                hear.wait_for("ready")
                driver = Lines([os.path.join(TOOLS, "locate"), server.name, session, "place.1=hear:in_1", what,
                                str(count), *places], log="locate.err")
                done = driver.wait_for("done", limit=120)
                driver.end()
                heard = hear.end()
            if not done:
                sys.exit(f"bench: locate did not end; see {os.path.join(WORK, 'locate.err')}")
            asked = [int(line[1]) for line in driver.lines if line[0] == "asked"]
            returned = [(int(line[3]) - int(line[1])) / 1e6 for line in driver.lines if line[0] == "asked"]
            moves = [int(line[1]) for line in heard if line[0] == "move"]
            taken = matched(asked, moves)
            if len(taken) < len(asked):
                note(f"{what} {kind} p{period}: heard {len(taken)} of {len(asked)}")
            note(f"{what} {kind} p{period}: {' '.join(done[1:])}")
            if what == "locate":
                middle = figure(f"locate.{kind}.p{period}", taken, "ms")
                figure(f"locate.{kind}.p{period}.call", returned, "ms")
                check(f"locate-to-sound-{kind}-p{period}", middle, "ms", "<=", 20)
            else:
                periods = [t / 1000 * server.periods_a_second for t in taken]
                middle = figure(f"primed-start.{kind}.p{period}", periods, "periods")
                check(f"primed-start-{kind}-p{period}", middle, "periods", "<=", 2)
