"""Goodput against offered load, from a fraction of the capacity to several times of it.

    capacity     answers a second in a closed loop of 16 clients
    each load    an open loop: requests on a schedule, by clients that give up after 150 ms; once
                 with a new connection for each request, once with kept-alive ones. The first second
                 is not counted: it is the burst that becomes an overload
    meanwhile    GET /healthz/live and GET /v1/campaigns, ten times a second, on new connections
    after        the highest load is followed by half the capacity: `after` is the share of requests
                 that are answered from two seconds on

The matches take a fixed time (`testkit/slow_service.py`), as long as those of about a million
campaigns: so the clients on the same machine can offer several times the capacity. `clients` is the
share of a core that they take; a run in which they were late says so.
"""

import argparse
import json
import time
from collections.abc import Sequence

from bench.index.measure import Result
from bench.papers import plots, report
from testkit import Failed
from testkit.arguments import positive
from testkit.child import Child, Message
from testkit.constant_rate import milliseconds
from testkit.markdown import table
from testkit.progress import Progress
from testkit.sampler import Sampler
from testkit.service import Server, started
from testkit.stage import Stage, stage

LOADS = (0.2, 0.5, 0.8, 1.0, 1.2, 1.5, 2.0, 3.0, 4.0)
KINDS = {"fresh": "new connections", "kept": "kept-alive connections"}
PATIENCE_MS = 150
MATCH_MS = 1.0
CAMPAIGNS = 1000
LATE_MS = 50.0
PICTURE = report.DOCS / "benchmarks" / "overload.svg"


class TooLate(Failed):
    """The clients did not keep their schedule, so the figures say nothing."""


def measure(
    loads: Sequence[float], seconds: float, match_ms: float, progress: Progress
) -> list[Result]:
    """One result for each kind of connection and load."""
    results: list[Result] = []
    with stage(CAMPAIGNS, progress) as ground:
        variables = {"COPSE_DATABASE_URL": ground.url, "COPSE_WORKERS": "1"}
        arguments = ["-m", "testkit.slow_service", str(match_ms), "--port", "0"]
        with started("slow service", arguments, variables) as server:
            for kind, name in KINDS.items():
                _drive(server, ground, kind, "0:1")  # warm
                capacity = _drive(server, ground, kind, "0:3")["phases"][0]["goodput"]
                for place, load in enumerate(loads):
                    progress.show(name, place, len(loads))
                    result = _at(server, ground, kind, load, capacity, seconds, load == max(loads))
                    results.append({"connections": name, **result})
    progress.done()
    return results


def _at(
    server: Server,
    ground: Stage,
    kind: str,
    load: float,
    capacity: float,
    seconds: float,
    is_last: bool,
) -> Result:
    rate, half = load * capacity, capacity / 2
    health = Sampler(lambda: _seconds(server, "/healthz/live", ""), 0.1)
    admin = Sampler(lambda: _seconds(server, "/v1/campaigns?limit=10", ground.token), 0.1)
    phases = [f"{rate}:1", f"{rate}:{seconds}"]
    if is_last:
        phases += [f"{half}:2", f"{half}:2"]
    for each in (health, admin):
        each.start()
    driven = _drive(server, ground, kind, *phases)
    for each in (health, admin):
        each.stop()
        each.join()
    counted, after = driven["phases"][1], driven["phases"][-1]
    answered, refused = counted["answered"], counted["refused"]
    return {
        "capacity_per_s": round(capacity),
        "load": load,
        "goodput": round(counted["goodput"] / capacity, 2),
        "answered": round(answered / counted["requests"], 3),
        "refused": round(refused / counted["requests"], 3),
        "gave_up": counted["gave_up"],
        "lost": counted["lost"],
        "p50_ms": counted["p50_ms"],
        "p99_ms": counted["p99_ms"],
        "refused_p50_ms": counted["refused_p50_ms"],
        "refused_p99_ms": counted["refused_p99_ms"],
        "health_max_ms": milliseconds(sorted(health.samples), 1.0),
        "admin_max_ms": milliseconds(sorted(admin.samples), 1.0),
        "missed": health.missed + admin.missed,
        "after": round(after["answered"] / after["requests"], 3) if is_last else None,
        "clients": driven["cpu"],
        "late_ms": max(phase["sent_late_ms"] for phase in driven["phases"]),
    }


def _drive(server: Server, ground: Stage, kind: str, *phases: str) -> Message:
    arguments = (server.port, ground.bodies, ground.token, PATIENCE_MS, kind, *phases)
    with Child("testkit.open_loop", *arguments) as clients:
        return clients.hear()


def _seconds(server: Server, path: str, token: str) -> float:
    began = time.perf_counter()
    server.get(path, token)
    return time.perf_counter() - began


def draw(results: Sequence[Result]) -> None:
    """Write the picture, if matplotlib is installed."""
    if not plots.is_possible():
        return
    curves = []
    for name in KINDS.values():
        own = [result for result in results if result["connections"] == name]
        loads = [result["load"] for result in own]
        curves.append(plots.Curve(name, loads, [result["goodput"] for result in own]))
    title = "answered within 150 ms, and offered"
    labels = "offered load, times the capacity", "goodput, times the capacity"
    plots.lines(PICTURE, title, *labels, curves)


def run(arguments: argparse.Namespace) -> None:
    """Measure and print."""
    loads = arguments.loads or LOADS
    results = measure(loads, arguments.seconds, arguments.match_ms, Progress())
    if arguments.json:
        for result in results:
            print(json.dumps(result))
    else:
        print(table(list(results[0]), [list(result.values()) for result in results]))
    if arguments.draw:
        draw(results)
    late = max(result["late_ms"] for result in results)
    if late > LATE_MS:
        raise TooLate(
            f"the clients were {late:.0f} ms late: repeat it on a machine with idle cores"
        )


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Put `overload` on the command line."""
    command = commands.add_parser("overload", help="goodput against offered load")
    command.add_argument("--seconds", type=positive, default=5, help="length of each load")
    command.add_argument(
        "--loads", type=float, nargs="+", metavar="X", help="times the capacity, ascending"
    )
    command.add_argument("--match-ms", type=float, default=MATCH_MS, help="time of a match")
    command.add_argument("--draw", action="store_true", help=f"write {PICTURE.name} in the docs")
    command.add_argument("--json", action="store_true", help="print one JSON object per load")
    command.set_defaults(run=run)
