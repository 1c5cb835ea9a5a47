"""Mixing 32 stereo 24-bit stems of 180 s down to one 32-bit float WAV file: wall and CPU of whole processes.

Gain and pan for each stem in Backline and ecasound; sox -m has gain only. Interleaved; all files in the page cache.
"""
from common import *

STEMS, LENGTH = 32, 30 if QUICK else 180
files = stem_files(STEMS, LENGTH)
session = session_file("offline", files)
out = os.path.join(WORK, "mix-{}.wav")
commands = {
    "backline": [PROGRAM, "render", session, "-o", out.format("backline"), "--bits", "32f", "--force"],
    "ecasound": ["ecasound", "-q", "-B:nonrt", "-b:1024"],
    "sox": ["sox", "-q", "-m"],
}
for i, file in enumerate(files, 1):
    commands["ecasound"] += [f"-a:{i}", f"-i:{file}", "-ea:50", f"-epp:{pan_of(i)}"]
    commands["sox"] += ["-v", "0.5", file]
commands["ecasound"] += ["-a:all", f"-f:f32_le,2,{RATE}", "-o:" + out.format("ecasound")]
commands["sox"] += ["-e", "floating-point", "-b", "32", out.format("sox")]

wall, cpu = {name: [] for name in commands}, {name: [] for name in commands}
for turn in range(runs(5) + 1):
    for name, command in commands.items():
        if os.path.exists(out.format(name)):
            os.remove(out.format(name))
        seconds_taken = timed(command, f"offline-{name}.log")
        if turn > 0:
            wall[name].append(seconds_taken[0])
            cpu[name].append(seconds_taken[1])
walls = {name: figure(f"offline.{name}.wall", values, "s") for name, values in wall.items()}
cpus = {name: figure(f"offline.{name}.cpu", values, "s") for name, values in cpu.items()}
note(f"backline: {LENGTH / walls['backline']:.0f} x real time")
check("offline-faster-than-ecasound", ratio("offline.wall.ecasound", walls["ecasound"], walls["backline"]), "x", ">=", 4)
check("offline-faster-than-sox", ratio("offline.wall.sox", walls["sox"], walls["backline"]), "x", ">=", 5)
check("offline-cpu-of-ecasound's", ratio("offline.cpu", cpus["backline"], cpus["ecasound"]), "x", "<=", 1 / 2.5)

# The mixes must be the same music: ecasound pans by the same law only up to a factor, so their levels are shown.
for name in commands:
    with open(out.format(name), "rb") as file:
        size = os.path.getsize(out.format(name))
        file.seek(size - size // 16 * 8)
        samples = numpy.frombuffer(file.read(8 * RATE), "<f4")
    note(f"{name}: {size} bytes, RMS of a second in the middle {numpy.sqrt(numpy.mean(samples**2)):.4f}")
