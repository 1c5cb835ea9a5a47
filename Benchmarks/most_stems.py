"""The largest number of stereo stems at 64 frames without an underrun in 30 s, by bisection over a ladder.

Backline counts its own underruns. ecasound counts none, so both are also held to jackd's own lines "was not
finished", of which 0.5 % of the cycles are forgiven: an empty client on a virtual machine has some too.
"""
import time

from common import *

PERIOD, LENGTH = 64, seconds(30)
LADDER = [64, 128, 256, 384, 512, 768, 1000, 1250, 1500, 2000, 2500, 3000, 3500, 4000]
files = stem_files(max(LADDER), 50, distinct=32)


def attempt(name, n):
    """(own underruns or None, late cycles in ppm) of one run."""
    with Server(PERIOD) as server:
        process = (play(server, session_file(f"most-{n}", files[:n])) if name == "backline"
                   else spawn(ecasound(files[:n], PERIOD), "ecasound.log"))
        wait_until_playing(process, limit=180)
        time.sleep(4)
        late = server.late_clients()
        cpu = CPU(process.pid)
        time.sleep(LENGTH)
        jack, disk = cpu.read()
        late = (server.late_clients() - late) / (LENGTH * server.periods_a_second) * 1e6
        alive = process.poll() is None
        underruns = report_of(process)["underruns"] if name == "backline" else None
        stop(process)
    note(f"try {name} {n} stems: underruns {underruns} late {late:.0f} ppm jack {jack / 1e7:.1f} %core "
         f"disk {disk / 1e7:.1f} %core alive {alive}")
    return underruns, late if alive else 1e6


tries = {}


def result(name, n):
    """What came of one run; each number of stems is tried once."""
    if (name, n) not in tries:
        tries[name, n] = attempt(name, n)
    return tries[name, n]


def largest(name, holds, first):
    """The largest rung that holds, where the next one does not."""
    low, high, i = -1, len(LADDER), LADDER.index(first)
    while high - low > 1:
        if holds(result(name, LADDER[i])):
            low = i
        else:
            high = i
        i = (low + high) // 2
    return LADDER[low] if low >= 0 else 0


own = largest("backline", lambda got: got[0] == 0, 1000)
figure("most-stems.backline.without-underrun", [own], "stems")
mine = largest("backline", lambda got: got[1] <= 5000, 1000)
peer = largest("ecasound", lambda got: got[1] <= 5000, 256)
figure("most-stems.backline.late-below-0.5%", [mine], "stems")
figure("most-stems.ecasound.late-below-0.5%", [peer], "stems")
ratio("most-stems", mine, peer)
check("most-stems-without-an-underrun", own, "stems", ">=", 1000)
