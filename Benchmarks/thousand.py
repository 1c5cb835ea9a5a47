"""1,000 metered stereo stems at 64 frames for 30 s, beside a control that burns the same CPU and an empty client."""
import json
import time

from common import *

STEMS, PERIOD, LENGTH = 1000, 64, seconds(30)
session = session_file("thousand", stem_files(STEMS, 50, distinct=32))


def control(server, name, nanoseconds):
    """A client of our own in C, once it runs."""
    lines = Lines([os.path.join(TOOLS, "burn"), name, str(int(nanoseconds))], stdin=subprocess.PIPE)
    if not lines.wait_for("ready"):
        sys.exit("bench: the control did not start")
    return lines


def ask(lines):
    """What a control did since it was last asked."""
    before = len(lines.lines)
    lines.process.stdin.write("\n")
    lines.process.stdin.flush()
    return json.loads(" ".join(lines.wait_for("{\"callbacks\":", after=before)))


def one_run(server, burn):
    process = play(server, session)
    wait_until_playing(process, limit=120)
    clients = {"empty": control(server, "empty", 0)}
    if burn:
        clients["control"] = control(server, "control", burn)
    time.sleep(15 if burn else 3)  # the control needs some seconds to find its mean
    for client in clients.values():
        ask(client)
    cpu = {name: CPU(client.process.pid) for name, client in clients.items()} | {"backline": CPU(process.pid)}
    time.sleep(LENGTH if burn else seconds(8))
    used = {name: c.read() for name, c in cpu.items()}
    answers = {name: ask(client) for name, client in clients.items()}
    report = report_of(process)
    for client in clients.values():
        client.process.stdin.close()
        client.end()
    return used, answers, report


with Server(PERIOD) as server:
    period_ns = 1e9 / server.periods_a_second
    _, _, report = one_run(server, None)
    burn = report["loadMean"] * period_ns
    note(f"a first run took {burn / 1000:.1f} us in the callback")
    rows = []
    for _ in range(runs(3)):
        used, answers, report = one_run(server, burn)
        burn = report["loadMean"] * period_ns
        rows.append({
            "underruns": report["underruns"],
            "lost": report["lostFrames"],
            "jack": used["backline"][0] / 1e7,
            "disk": used["backline"][1] / 1e7,
            "empty": used["empty"][0] / 1e7,
            "above": (used["backline"][0] - used["empty"][0]) / 1e7,
            "callback": report["loadMean"] * 100,
            "control": answers["control"]["meanNanoseconds"] / period_ns * 100,
            "maximum": report["loadMaximum"] * 100,
            "controlMaximum": answers["control"]["maximumNanoseconds"] / period_ns * 100,
            "over": report["overHalfPeriod"] / report["callbacks"] * 1e6,
            "controlOver": answers["control"]["overHalfPeriod"] / answers["control"]["callbacks"] * 1e6,
        })


def column(key, name, unit):
    return figure(f"thousand.{name}", [row[key] for row in rows], unit)


underruns = column("underruns", "underruns", "underruns")
column("lost", "frames-lost-by-the-server", "frames")
column("jack", "jack-thread", "%core")
column("empty", "empty-client", "%core")
above = column("above", "jack-thread-above-empty", "%core")
column("disk", "disk-side", "%core")
column("callback", "callback-mean", "%period")
column("control", "control-mean", "%period")
column("maximum", "callback-maximum", "%period")
column("controlMaximum", "control-maximum", "%period")
over = column("over", "over-half-a-period", "ppm")
control_over = column("controlOver", "control-over-half-a-period", "ppm")
check("thousand-stems-underruns", max(row["underruns"] for row in rows), "underruns", "<=", 0)
check("thousand-stems-jack-thread-above-empty", above, "%core", "<=", 30)
check("thousand-stems-callbacks-over-half-a-period", over, "ppm", "<=", control_over)
