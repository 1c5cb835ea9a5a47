"""RssAnon + RssFile while playing 32 and 1,000 stems, and its drift over a minute of ten-minute stems.

JACK's own shared memory (some 105 MB) is RssShmem and not counted. The ten-minute stems share four files.
"""
import time

from common import *

PERIOD = 256
sizes = {n: [] for n in (32, 1000)}
peers, drifts = [], []
short = stem_files(1000, 50, distinct=32)
long = stem_files(32, 60 if QUICK else 600, name="long", distinct=4)
with Server(PERIOD) as server:
    for _ in range(runs(3)):
        for n in sizes:
            process = play(server, session_file(f"memory-{n}", short[:n]))
            wait_until_playing(process, limit=120)
            time.sleep(4)
            sizes[n].append(private_megabytes(process.pid))
            report_of(process)
        process = spawn(ecasound(short[:32], PERIOD), "ecasound.log")
        wait_until_playing(process)
        time.sleep(4)
        peers.append(private_megabytes(process.pid))
        stop(process)
    for _ in range(runs(2)):
        process = play(server, session_file("memory-long", long))
        wait_until_playing(process)
        time.sleep(3)
        samples = []
        for _ in range(13):
            samples.append(private_megabytes(process.pid))
            time.sleep(seconds(5) / 4 if QUICK else 5)
        drifts.append(max(samples) - min(samples))
        note("RssAnon + RssFile every 5 s: " + " ".join(f"{s:.1f}" for s in samples))
        report_of(process)
few, many = (figure(f"memory.n{n}", values, "MB") for n, values in sizes.items())
peer = figure("memory.ecasound.n32", peers, "MB")
drift = figure("memory.drift", drifts, "MB")
ratio("memory.n32", few, peer)
check("memory-32-stems", few, "MB", "<=", 96)
check("memory-1000-stems", many, "MB", "<=", 1024)
check("memory-drift-in-a-minute", drift, "MB", "<=", 4)
