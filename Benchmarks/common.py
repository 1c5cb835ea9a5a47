"""Helpers of the benchmarks: stems, sessions, a JACK server of one's own, thread CPU, figures and verdicts.

A figure prints as `name median unit min A max B n K`, a ratio of medians as `name ratio x (A / B)`, and what a
figure is held against as `check name value unit <= target holds`; scripts/bench collects the checks.
"""
import atexit
import json
import os
import signal
import statistics
import subprocess
import sys
import threading
import time
import wave

import numpy

RATE = 48_000
HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.environ["BACKLINE"]
TOOLS = os.environ["BENCH_TOOLS"]
WORK = os.environ["BENCH_WORK"]
QUICK = os.environ.get("BENCH_QUICK") == "1"


# Figures

def figure(name, values, unit):
    """Prints a repeated figure and returns its median."""
    values = [float(v) for v in values]
    middle = statistics.median(values)
    print(f"{name} {middle:.4g} {unit} min {min(values):.4g} max {max(values):.4g} n {len(values)}", flush=True)
    return middle


def ratio(name, a, b):
    """Prints the ratio of two figures of one run and returns it."""
    value = a / b if b else float("nan")
    print(f"{name} {value:.4g} x ({a:.4g} / {b:.4g})", flush=True)
    return value


def check(name, value, unit, relation, target):
    """Holds a value against its target."""
    holds = value <= target if relation == "<=" else value >= target
    print(f"check {name} {value:.4g} {unit} {relation} {target:.4g} {'holds' if holds else 'MISSED'}", flush=True)


def note(text):
    print(f"# {text}", flush=True)


def runs(count):
    """How often to repeat: less in a quick run, which only shows that the scripts work."""
    return min(count, 2) if QUICK else count


def seconds(count):
    return min(count, 4) if QUICK else count


# Stems

def stem_files(count, length, name="stem", distinct=None):
    """`count` stereo 24-bit WAV files of `length` seconds at 48 kHz, in the page cache.

    Noise and tones at -9 dB, different in each of the first eight; others hold what one of those holds, in a file
    of their own. With `distinct` fewer files are shared: file i is also file i + distinct.
    """
    folder = os.path.join(WORK, f"{name}-{length}")
    os.makedirs(folder, exist_ok=True)
    paths = []
    for i in range(distinct or count):
        path = os.path.join(folder, f"{i + 1}.wav")
        if not os.path.exists(path):
            write_wav(path, lambda first, n: music(i % 8, first, n), length)
        paths.append(path)
    keep_cached(paths)
    return [paths[i % len(paths)] for i in range(count)]


def keep_cached(paths):
    """Holds files in the page cache until this program ends: systems that reclaim memory early drop them in seconds."""
    spawn(["vmtouch", "-l", "-q", *paths], "vmtouch.log")
    missing = set(paths)
    while missing:
        missing -= {path for path in missing if is_cached(path)}
        time.sleep(0.05)


def is_cached(path):
    resident, size = subprocess.run(["fincore", "--bytes", "--noheadings", "--output", "RES,SIZE", path],
                                    check=True, capture_output=True, text=True).stdout.split()
    return int(resident) >= int(size)


def music(number, first, count):
    """Frames of a made-up stem: two tones and noise that is the same in each pass of ten seconds."""
    t = numpy.arange(first, first + count) / RATE
    generator = numpy.random.default_rng(number * 1000 + first // (10 * RATE))
    noise = generator.standard_normal((count, 2)) * 0.06
    tones = numpy.stack([numpy.sin(2 * numpy.pi * f * (number + 1) * t) for f in (100, 103)], axis=1)
    return 0.15 * tones + noise


def write_wav(path, frames, length):
    """A plain 24-bit WAV file (ecasound refuses the extensible header); `frames(first, count)` makes its contents."""
    with wave.open(path + ".part", "wb") as out:
        out.setnchannels(2)
        out.setsampwidth(3)
        out.setframerate(RATE)
        done, total = 0, round(length * RATE)
        while done < total:
            count = min(10 * RATE, total - done)
            scaled = numpy.clip(numpy.rint(frames(done, count) * 2**23), -(2**23), 2**23 - 1).astype("<i4")
            out.writeframes(scaled.reshape(-1, 1).view("u1").reshape(-1, 4)[:, :3].tobytes())
            done += count
    os.rename(path + ".part", path)


def pan_of(i):
    """The pan of stem i, 0 to 100 as ecasound takes it."""
    return i * 37 % 101


def session_file(name, files, loops=0, tracks=None, buses=None, rate=None, mode=None):
    """A session with these stems at half volume, each panned elsewhere, at this rate in this mode."""
    path = os.path.join(WORK, f"{name}.backline.json")
    document = {
        "format": "backline-session/1", "name": name, "sampleRate": RATE,
        "tracks": tracks or [
            {"id": f"t{i + 1}", "file": file, "volume": 0.5, "pan": (pan_of(i + 1) - 50) / 50, "loops": loops}
            for i, file in enumerate(files)],
    }
    if buses:
        document["buses"] = buses
    if rate:
        document["rate"] = rate
    if mode:
        for track in document["tracks"]:
            track["rateMode"] = mode
    with open(path, "w") as out:
        json.dump(document, out)
    return path


# Processes

_processes = []


def spawn(command, log, **options):
    options.setdefault("stdin", subprocess.DEVNULL)
    with open(os.path.join(WORK, log), "w") as out:
        options.setdefault("stdout", out)
        options.setdefault("stderr", out)
        process = subprocess.Popen(command, **options)
    _processes.append(process)
    return process


def stop(process, number=signal.SIGTERM, wait=8):
    """Ends a process that `spawn` started."""
    if process.poll() is None:
        process.send_signal(number)
        try:
            process.wait(wait)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    if process in _processes:
        _processes.remove(process)
    return process.returncode


@atexit.register
def _stop_all():
    for process in reversed(list(_processes)):
        stop(process)


signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
signal.signal(signal.SIGHUP, lambda *_: sys.exit(129))


class Server:
    """A jackd of one's own on the dummy driver: `with Server(64) as server:`."""

    count = 0

    def __init__(self, period):
        Server.count += 1
        self.period = period
        self.name = f"bench-{os.getpid()}-{Server.count}"

    def __enter__(self):
        os.environ["JACK_DEFAULT_SERVER"] = self.name
        os.environ["JACK_NO_START_SERVER"] = "1"
        os.environ["JACK_NO_AUDIO_RESERVATION"] = "1"
        self.log = f"jackd-{self.name}.log"
        self.process = spawn(
            ["jackd", "-n", self.name, "-R", "-P", "70", "-d", "dummy", "-r", str(RATE), "-p", str(self.period),
             "-C", "2", "-P", "2"], self.log)
        subprocess.run(["jack_wait", "-s", self.name, "-w", "-t", "10"], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        if self.process.poll() is not None:
            sys.exit(f"bench: jackd did not start; see {os.path.join(WORK, self.log)}")
        time.sleep(0.3)
        return self

    def __exit__(self, *_):
        stop(self.process)

    def late_clients(self):
        """How often jackd said so far that a client was not finished."""
        with open(os.path.join(WORK, self.log), errors="replace") as log:
            return log.read().count("was not finished")

    @property
    def periods_a_second(self):
        return RATE / self.period


def play(server, session, seconds=None, log="play.log", **options):
    """`backline play` with a report at its end; read it by `report_of`."""
    command = [PROGRAM, "play", session, "--server", server.name, "--json"]
    if seconds:
        command += ["--seconds", str(seconds)]
    for connection in options.pop("connect", []):
        command += ["--connect", connection]
    return spawn(command, "play.err", stdout=open(os.path.join(WORK, log), "w"), **options)


def report_of(process, log="play.log", number=signal.SIGINT, wait=20):
    """Ends `play`, if it has not ended, and reads its report."""
    stop(process, number, wait)
    with open(os.path.join(WORK, log)) as text:
        try:
            return json.load(text)
        except json.JSONDecodeError:
            with open(os.path.join(WORK, "play.err")) as errors:
                sys.exit(f"bench: backline play gave no report: {errors.read()[-500:]}")


def ecasound(files, period, mode="rt", output="jack,system"):
    """The command that makes ecasound play these stems with gain and pan."""
    command = ["ecasound", "-q", f"-B:{mode}", f"-b:{period}"]
    for i, file in enumerate(files, 1):
        command += [f"-a:{i}", f"-i:{file}", "-ea:50", f"-epp:{pan_of(i)}"]
    return command + ["-a:all", f"-o:{output}"]


def wait_until_playing(process, wanted=1, limit=60):
    """Waits until a process has a real-time audio thread that runs, and a little longer."""
    began = time.monotonic()
    while time.monotonic() - began < limit and process.poll() is None:
        times = thread_times(process.pid)
        if sum(1 for priority, _ in times.values() if priority >= JACK_PRIORITY) >= wanted:
            return
        time.sleep(0.05)
    if process.poll() is not None:
        sys.exit(f"bench: {process.args[0]} ended with status {process.returncode}")


# CPU and memory

# jackd -P 70 gives its clients' process threads 65; no other thread of any client here is above 60.
JACK_PRIORITY = 61


def thread_times(pid):
    """{thread: (real-time priority, ns on a CPU)}, by the scheduler's own accounts."""
    times = {}
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except FileNotFoundError:
        return times
    for thread in threads:
        try:
            with open(f"/proc/{pid}/task/{thread}/schedstat") as file:
                ns = int(file.read().split()[0])
            with open(f"/proc/{pid}/task/{thread}/stat") as file:
                priority = int(file.read().rsplit(")", 1)[1].split()[37])
            times[thread] = (priority, ns)
        except (FileNotFoundError, ProcessLookupError):
            pass
    return times


class CPU:
    """CPU of a process from now on: of the JACK thread, and of all others."""

    def __init__(self, pid):
        self.pid = pid
        self.before = thread_times(pid)
        self.began = time.monotonic()

    def read(self):
        """(ns a second in the JACK thread, ns a second in all other threads)."""
        after = thread_times(self.pid)
        elapsed = time.monotonic() - self.began
        jack = others = 0
        for thread, (priority, ns) in after.items():
            used = ns - self.before.get(thread, (0, 0))[1]
            if priority >= JACK_PRIORITY:
                jack += used
            else:
                others += used
        return jack / elapsed, others / elapsed


def private_megabytes(pid):
    """RssAnon + RssFile in MB."""
    total = 0
    with open(f"/proc/{pid}/status") as file:
        for line in file:
            if line.startswith(("RssAnon:", "RssFile:")):
                total += int(line.split()[1])
    return total / 1024


def timed(command, log):
    """Runs a command to its end: (wall s, user and system s)."""
    began = time.monotonic()
    process = spawn(command, log)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - began
    process.returncode = status
    _processes.remove(process)
    if status:
        with open(os.path.join(WORK, log)) as text:
            sys.exit(f"bench: {command[0]} failed: {text.read()[-500:]}")
    return wall, usage.ru_utime + usage.ru_stime


class Lines:
    """What a program says, line by line, kept while it runs."""

    def __init__(self, command, log="lines.err", **options):
        self.process = spawn(command, log, stdout=subprocess.PIPE, text=True, **options)
        self.lines = []
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line.split())

    def wait_for(self, word, limit=30, after=0):
        """The first line, after so many, that begins with `word`."""
        began = time.monotonic()
        while time.monotonic() - began < limit:
            for line in self.lines[after:]:
                if line and line[0] == word:
                    return line
            if not self.thread.is_alive():
                return None
            time.sleep(0.005)
        return None

    def end(self):
        stop(self.process)
        self.thread.join(2)
        return self.lines
