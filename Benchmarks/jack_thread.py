"""CPU for each stereo stem and period, in the JACK thread and on the disk side, of Backline and of ecasound.

The slope from 8 to 256 stems, so that a client's fixed cost (waking, mostly) drops out. Interleaved runs.
"""
import time

from common import *

FEW, MANY = 8, 256
files = stem_files(MANY, 30)
sessions = {n: session_file(f"slope-{n}", files[:n]) for n in (FEW, MANY)}
window = seconds(6)


def measure_backline(server, n):
    process = play(server, sessions[n])
    wait_until_playing(process)
    time.sleep(2)
    cpu = CPU(process.pid)
    time.sleep(window)
    jack, disk = cpu.read()
    report = report_of(process)
    inside = report["loadMean"] * 1e9 / server.periods_a_second
    if report["underruns"]:
        note(f"backline, {n} stems at {server.period}: {report['underruns']} underruns")
    return jack / server.periods_a_second, disk / server.periods_a_second, inside


def measure_ecasound(server, n):
    process = spawn(ecasound(files[:n], server.period), "ecasound.log")
    wait_until_playing(process)
    time.sleep(3)
    cpu = CPU(process.pid)
    time.sleep(window)
    jack, disk = cpu.read()
    stop(process)
    return jack / server.periods_a_second, disk / server.periods_a_second


for period in (64, 256):
    slopes = {name: [] for name in ("backline.jack", "backline.callback", "backline.disk", "ecasound.jack",
                                    "ecasound.disk")}
    totals = {}
    with Server(period) as server:
        for _ in range(runs(5)):
            at = {}
            for n in (FEW, MANY):
                for name, values in (("backline", measure_backline(server, n)), ("ecasound", measure_ecasound(server, n))):
                    for part, value in zip(("jack", "disk", "callback"), values):
                        at[f"{name}.{part}", n] = value
                        totals.setdefault((f"{name}.{part}", n), []).append(value)
            for name in slopes:
                slopes[name].append((at[name, MANY] - at[name, FEW]) / (MANY - FEW))
    for (name, n), values in sorted(totals.items()):
        figure(f"{name}.p{period}.n{n}", [v / 1000 for v in values], "us/period")
    middle = {name: figure(f"{name}.p{period}.stem", [v / 1000 for v in values], "us/stem/period")
              for name, values in slopes.items()}
    jack = ratio(f"jack.p{period}", middle["backline.jack"], middle["ecasound.jack"])
    ratio(f"jack.p{period}.callback", middle["backline.callback"], middle["ecasound.jack"])
    disk = ratio(f"disk.p{period}", middle["backline.disk"], middle["ecasound.disk"])
    if period == 64:
        check("jack-thread-of-ecasound's", jack, "x", "<=", 1 / 8)
        check("disk-side-of-ecasound's", disk, "x", "<=", 1 / 4)
