"""Rates other than 1: the JACK thread's CPU, the CPU of a stretched minute, and how many stretched tracks play at once.

    jack    the JACK thread at session rate 1.25 against rate 1, the same stems in turn on one server; rate 1 stands
            there twice, so that the noise of such a ratio can be seen beside it
    cost    `backline render` of a stereo minute, less what it costs at rate 1, against the rubberband program
    count   the largest number of tracks without an underrun in 20 s, beside what rubberband and soundstretch would make
            of the same cores
    changes 50 changes of the session's rate a second for 30 s on 6 tracks: underruns, and how long a call takes

BENCH_PARTS="count tape" measures these parts and modes only. First everything that is measured is rendered and
listened to, so that no key that is ignored makes a good figure.
"""
import functools
import time

from common import *

PERIOD = 256
RATES = (0.8, 1.25)
MODES = ("fine", "fast", "tape")
PARTS = ("jack", "cost", "count", "changes")
CORES = len(os.sched_getaffinity(0))

words = os.environ.get("BENCH_PARTS", "").split()
for word in words:
    if word not in PARTS + MODES:
        sys.exit(f"bench: BENCH_PARTS has no {word}; any of {' '.join(PARTS + MODES)}")
parts = [part for part in PARTS if part in words] or list(PARTS)
modes = [mode for mode in MODES if mode in words] or list(MODES)

# What is wrong with what was measured, by part and mode. No target is held with it, and the script fails in the end.
faults = []
part = "probe"
# A build that refuses all rates can still show that the script works: rate 1 stands in for every other.
stands_in = False


def fault(mode, text):
    if (part, mode, text) not in faults:
        faults.append((part, mode, text))
        note(f"WRONG: {text}")


@functools.cache
def stems(count, length):
    """Each set of stems is made, and held in the page cache, once."""
    return stem_files(count, length)


def session(files, rate, mode=None):
    rate = 1 if stands_in else rate
    return session_file(f"rates-{mode}-{rate}-{len(files)}", files, rate=rate, mode=mode)


def render(document, output):
    return [PROGRAM, "render", document, "-o", output, "--bits", "24", "--force", "-q"]


def samples(path):
    """The left channel of a sound file."""
    raw = subprocess.run(["sox", path, "-t", "f32", "-"], check=True, capture_output=True).stdout
    return numpy.frombuffer(raw, "<f4")[::2]


def tone(left):
    """The strongest tone in Hz, and the RMS, of some seconds in the middle."""
    middle = left[len(left) // 2 - RATE:len(left) // 2 + RATE]
    spectrum = numpy.abs(numpy.fft.rfft(middle * numpy.hanning(len(middle))))
    return numpy.argmax(spectrum) * RATE / len(middle), numpy.sqrt(numpy.mean(middle.astype(float)**2))


def check_length(mode, what, path, seconds_wanted):
    """Says so when a file is not as long as the rate makes it; the programs differ by a window or so."""
    frames = int(subprocess.run(["soxi", "-s", path], check=True, capture_output=True, text=True).stdout)
    if abs(frames / RATE - seconds_wanted) > 0.15 and not stands_in:
        fault(mode, f"{what} wrote {frames / RATE:.2f} s where {seconds_wanted:.2f} s were to be expected")


# What this build can do

def refusal(mode, rate):
    """What a build says that refuses a rate in a mode; listens to the rate where it does not."""
    source = stems(1, 10)[0]
    output = os.path.join(WORK, f"probe-{mode}-{rate}.wav")
    got = subprocess.run(render(session([source], rate, mode), output), stdin=subprocess.DEVNULL,
                         capture_output=True, text=True)
    if got.returncode:
        return got.stderr.strip() or f"status {got.returncode}"
    check_length(mode, f"backline in {mode} at {rate}", output, 10 / rate)
    hertz, level = tone(samples(output))
    wanted, plain = tone(samples(source))
    wanted *= rate if mode == "tape" else 1
    decibels = 20 * numpy.log10(max(level, 1e-9) / plain / 0.5)
    note(f"{mode} at {rate}: a tone at {hertz:.1f} Hz, {wanted:.1f} wanted; level {decibels:+.1f} dB")
    if abs(hertz / wanted - 1) > 0.03 or abs(decibels) > 3:
        fault(mode, f"{mode} at {rate} does not sound as it should")
    return None


def playable(mode):
    """Whether this build has a mode at the rates that are measured."""
    for rate in RATES:
        reason = refusal(mode, rate)
        if reason:
            note(f"{mode} at {rate} is refused: {reason.splitlines()[-1]}")
            return False
    return True


for mode in modes:
    reason = refusal(mode, 1)
    if reason:
        sys.exit(f"bench: not even rate 1 can be rendered in {mode}: {reason}")
missing = [mode for mode in modes if not playable(mode)]
if len(missing) == len(modes):
    if not QUICK:
        sys.exit("bench: this build refuses every rate but 1; with --quick rate 1 stands in for the others")
    note("NO MEASUREMENT: this build refuses every rate but 1, which stands in for the others below")
    stands_in = True
else:
    for mode in missing:
        fault(mode, f"this build has no {mode}")
    modes = [mode for mode in modes if mode not in missing]


def hold(mode, name, value, target):
    """Holds a ratio against its target, unless it is none, or one of something else."""
    if stands_in or any(at == mode and where in ("probe", part) for where, at, _ in faults):
        note(f"not held against {target:g}: {name}")
    else:
        check(name, value, "x", "<=", target)


# The JACK thread

# So many that two cores surely play them.
FEW = {"fine": 4, "fast": 8, "tape": 8}


def measure_jack(server, mode, rate):
    """us a period in the JACK thread and of them inside the callback, and %core of all other threads."""
    process = play(server, session(stems(FEW[mode], 30), rate, mode))
    wait_until_playing(process)
    time.sleep(2)
    cpu = CPU(process.pid)
    if sum(1 for priority, _ in cpu.before.values() if priority >= JACK_PRIORITY) != 1:
        fault(mode, f"{mode} at {rate} has not one JACK thread: {sorted(cpu.before.values())}")
    time.sleep(seconds(6))
    jack, others = cpu.read()
    report = report_of(process)
    if report["underruns"]:
        note(f"{FEW[mode]} tracks in {mode} at {rate} had {report['underruns']} underruns")
    if report["problems"]:
        fault(mode, f"{mode} at {rate}: {report['problems']}")
    return (jack / server.periods_a_second / 1e3, report["loadMean"] * 1e6 / server.periods_a_second, others / 1e7)


def jack_part():
    # Rate 1 twice: what two equal series differ by is the noise of the ratio.
    series = {"r1": 1, "r1.25": 1.25, "r1-again": 1}
    rows = {(mode, name): [] for mode in modes for name in series}
    with Server(PERIOD) as server:
        for turn in range(runs(9)):
            first = turn % len(series)
            for mode in modes:
                for name in (list(series) * 2)[first:first + len(series)]:
                    rows[mode, name].append(measure_jack(server, mode, series[name]))
    for mode in modes:
        middle = {}
        for name in series:
            for i, (what, unit) in enumerate((("thread", "us/period"), ("callback", "us/period"), ("others", "%core"))):
                middle[what, name] = figure(f"rates.jack.{mode}.n{FEW[mode]}.{name}.{what}",
                                            [row[i] for row in rows[mode, name]], unit)
        both = [statistics.median(row[i] for row in rows[mode, "r1"] + rows[mode, "r1-again"]) for i in range(3)]
        ratio(f"rates.jack.{mode}.noise", middle["thread", "r1-again"], middle["thread", "r1"])
        ratio(f"rates.jack.{mode}.callback.noise", middle["callback", "r1-again"], middle["callback", "r1"])
        ratio(f"rates.jack.{mode}.callback", middle["callback", "r1.25"], both[1])
        hold(mode, f"jack-thread-at-rate-1.25-{mode}",
             ratio(f"rates.jack.{mode}", middle["thread", "r1.25"], both[0]), 1.10)


# A stretched minute

LENGTH = 10 if QUICK else 60
PEERS = {
    "rubberband-fine": ["rubberband", "--realtime", "--quiet", "--ignore-clipping", "--fine"],
    "rubberband-fast": ["rubberband", "--realtime", "--quiet", "--ignore-clipping", "--fast", "--bl-transients"],
    "soundstretch": ["soundstretch"],
}
# CPU seconds of each peer and rate, as far as they were measured.
peer_costs = {}


def cost_of(name, rate, mode=None):
    """CPU seconds of a program that brings one stereo stem to a rate."""
    source, output = stems(1, LENGTH)[0], os.path.join(WORK, f"cost-{name}.wav")
    if os.path.exists(output):
        os.remove(output)
    if name.startswith("backline"):
        command = render(session([source], rate, mode), output)
    elif name == "soundstretch":
        command = [*PEERS[name], source, output, f"-tempo={(rate - 1) * 100:+g}"]
    else:
        command = [*PEERS[name], "--time", f"{1 / rate:g}", source, output]
    _, cpu = timed(command, f"cost-{name}.log")
    check_length(mode or name.split("-")[-1], f"{name} at {rate}", output, LENGTH / rate)
    return cpu


def peer_costs_of(name, rate, count=3):
    """CPU seconds of some runs of a peer, measured now unless they were."""
    if (name, rate) not in peer_costs:
        peer_costs[name, rate] = [cost_of(name, rate) for _ in range(runs(count) + 1)][1:]
    return peer_costs[name, rate]


def cost_part():
    kinds = [("backline", 1, None)]
    for rate in RATES:
        for mode in modes:
            kinds.append((f"backline-{mode}", rate, mode))
            if mode != "tape":
                kinds.append((f"rubberband-{mode}", rate, None))
        kinds.append(("soundstretch", rate, None))
    costs = {(name, rate): [] for name, rate, _ in kinds}
    for turn in range(runs(5) + 1):
        for name, rate, mode in kinds:
            cpu = cost_of(name, rate, mode)
            if turn > 0:
                costs[name, rate].append(cpu)
    middle = {}
    for (name, rate), values in costs.items():
        middle[name, rate] = figure(f"rates.cost.{name}.r{rate}", values, f"CPU-s/{LENGTH}s")
        if name in PEERS:
            peer_costs[name, rate] = values
    for mode in modes:
        for rate in RATES:
            whole = middle[f"backline-{mode}", rate]
            stretch = whole - middle["backline", 1]
            if mode == "tape":
                note(f"tape at {rate}: {LENGTH / rate / max(stretch, 1e-3):.0f} x real time")
                continue
            peer = middle[f"rubberband-{mode}", rate]
            ratio(f"rates.cost.{mode}.r{rate}.whole", whole, peer)
            hold(mode, f"stretch-{mode}-r{rate}-cpu-of-rubberband's",
                 ratio(f"rates.cost.{mode}.r{rate}", stretch, peer), 1.15)


# Many stretched tracks

PLAYED = seconds(20)
FIRST = {"fine": 4, "fast": 8, "tape": 32}
MOST = 4096
# How often the number that was found must hold again.
AGAIN = 1 if QUICK else 2


def attempt(mode, rate, n):
    """Whether so many tracks play without an underrun, all of them and as long as they should."""
    shared = stems(4, 30) if QUICK else stems(32, 90)
    files = [shared[i % len(shared)] for i in range(n)]
    for settle in (2, 12):
        with Server(PERIOD) as server:
            process = play(server, session(files, rate, mode))
            try:
                wait_until_playing(process, limit=180)
                time.sleep(settle)
                late = server.late_clients()
                cpu = CPU(process.pid)
                time.sleep(PLAYED)
                jack, others = cpu.read()
                late = (server.late_clients() - late) / (PLAYED * server.periods_a_second) * 1e6
                alive = process.poll() is None
                report = report_of(process)
            except SystemExit as error:
                fault(mode, f"{n} tracks in {mode} at {rate} did not play: {error}")
                return False
            finally:
                stop(process, signal.SIGINT)
        # A session's frames may be those of its timeline.
        frames = report["frames"] / RATE / (1 if stands_in else min(rate, 1))
        played = min(report["callbacks"] * PERIOD / RATE, frames)
        silent = sum(1 for track in report["tracks"] if not any(peak is not None for peak in track["peak"]))
        note(f"try {n} tracks in {mode} at {rate}: underruns {report['underruns']} jack {jack / 1e7:.1f} %core "
             f"others {others / 1e7:.1f} %core late {late:.0f} ppm lost {report['lostFrames']} frames "
             f"played {played:.1f} s")
        if not alive:
            fault(mode, f"{n} tracks in {mode} at {rate} ended too early")
        if report["problems"] or len(report["tracks"]) != n:
            fault(mode, f"{n} tracks in {mode} at {rate}: {len(report['tracks'])} there, {report['problems']}")
        if report["underruns"] or not alive:
            return False
        # Where nothing ran dry because little was played, once more, with more time to begin.
        if played >= PLAYED:
            if silent:
                fault(mode, f"{silent} of {n} tracks in {mode} at {rate} were silent and had no underrun")
            return silent == 0
    note(f"{n} tracks in {mode} at {rate} do not begin in time")
    return False


def largest(holds, first, most):
    """The largest number that holds: by doubling, then by bisection to a sixteenth."""
    low, high, n = 0, None, min(first, most)
    while high is None or high - low > max(1, low // 16):
        if holds(n):
            low = n
        else:
            high = n
        if high is None and low == most:
            break
        n = min(2 * low, most) if high is None else (low + high) // 2
    return low


def most_tracks(mode, rate):
    """The number that the search finds, or the next below it that holds as often as it must."""
    # Other machines on the same iron take a core for a moment now and then: what fails is tried twice.
    found = largest(lambda n: attempt(mode, rate, n) or attempt(mode, rate, n), 2 if QUICK else FIRST[mode],
                    4 if QUICK else MOST)
    while found > 0 and not all(attempt(mode, rate, found) for _ in range(AGAIN)):
        found -= max(1, found // 16)
    return found


def count_part():
    would = {}
    for rate in RATES:
        for name in PEERS:
            if name.startswith("rubberband") and name.split("-")[1] not in modes:
                continue
            times = figure(f"rates.count.{name}.r{rate}", [LENGTH / rate / cpu for cpu in peer_costs_of(name, rate)],
                           "x-real-time")
            would[name, rate] = times * CORES
            figure(f"rates.count.{name}.r{rate}.cores{CORES}", [would[name, rate]], "tracks")
    for mode in modes:
        for rate in RATES:
            own = figure(f"rates.count.{mode}.r{rate}", [most_tracks(mode, rate)], "tracks")
            for (name, peer_rate), peer in would.items():
                if peer_rate == rate and name in (f"rubberband-{mode}", "soundstretch"):
                    ratio(f"rates.count.{mode}.r{rate}.{name}", own, peer)


# Many changes

CHANGED = 6
CHANGES_A_SECOND = 50


def measure_changes(mode):
    """Underruns, frames that the server lost, and the us that each call took, of one run."""
    wanted = round(seconds(30) * CHANGES_A_SECOND)
    with Server(PERIOD) as server:
        driver = Lines([os.path.join(TOOLS, "changes"), server.name, session(stems(CHANGED, 90), RATES[0], mode),
                        str(wanted), str(1000 // CHANGES_A_SECOND)], log="changes.err")
        done = driver.wait_for("done", seconds(30) + 60)
        lines = driver.end()
    if done is None:
        sys.exit(f"bench: changes did not end; see {os.path.join(WORK, 'changes.err')}")
    changed = [(int(line[1]), int(line[3])) for line in lines if line and line[0] == "changed"]
    report = dict(zip(done[1::2], map(int, done[2::2])))
    if len(changed) != wanted:
        fault(mode, f"{len(changed)} of {wanted} changes were made")
    if report["frames"] < seconds(30) * RATE * 0.95:
        fault(mode, f"only {report['frames']} frames were played")
    note(f"{len(changed)} changes in {mode}: {report}, latest call {max(late for _, late in changed) / 1e3:.1f} ms late")
    for line in lines:
        if line and line[0] == "notice":
            note(" ".join(line))
    return report["underruns"], report["lost"], [took for took, _ in changed]


def changes_part():
    for mode in modes:
        rows = [measure_changes(mode) for _ in range(runs(3))]
        figure(f"rates.changes.{mode}.n{CHANGED}.call", [took for row in rows for took in row[2]], "us")
        figure(f"rates.changes.{mode}.n{CHANGED}.lost", [row[1] for row in rows], "frames")
        underruns = figure(f"rates.changes.{mode}.n{CHANGED}.underruns", [row[0] for row in rows], "underruns")
        if mode != "fine" and not stands_in:
            check(f"underruns-at-{CHANGES_A_SECOND}-changes-a-second-{mode}", underruns, "underruns", "<=", 0)


for part in parts:
    {"jack": jack_part, "cost": cost_part, "count": count_part, "changes": changes_part}[part]()
if faults:
    sys.exit("bench: rates went wrong: " + "; ".join(text for _, _, text in faults))
