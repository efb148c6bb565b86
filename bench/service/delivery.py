"""What sampling the delivery costs a worker, and the matches beside it.

Two services with one worker each get the same matches at the same rate, in turns: one samples with
its usual share, the other does not. The difference of their CPU over the time is what sampling
takes of a worker; the target is 1 %, and a tenth of that for the noise. Writing is measured too:
counts are written every few seconds instead of every minute.
"""

import argparse
import json
import statistics
from datetime import datetime
from typing import Any

from bench.index.measure import Result
from testkit import Failed
from testkit.arguments import positive
from testkit.child import Child, Message
from testkit.client import Client
from testkit.markdown import table
from testkit.progress import Progress
from testkit.service import Server, service
from testkit.stage import Stage, stage

CONNECTIONS = 16
ROUNDS = 5
SHARE = 0.01
TARGET_PERCENT = 1.1
WRITE_SECONDS = 5
SAMPLING, OFF = "sampling", "off"

_STEADY = "testkit.constant_rate"


def measure(
    campaigns: int, rate: float, seconds: float, progress: Progress, rounds: int = ROUNDS
) -> list[Result]:
    """The service without sampling, and the one with it."""
    settings = {"delivery_seconds": WRITE_SECONDS}
    with (
        stage(campaigns, progress) as ground,
        service(OFF, ground.url, campaigns, delivery_share=0, **settings) as off,
        service(SAMPLING, ground.url, campaigns, delivery_share=SHARE, **settings) as on,
    ):
        used: dict[str, list[float]] = {OFF: [], SAMPLING: []}
        took: dict[str, list[Message]] = {OFF: [], SAMPLING: []}
        for turn in range(rounds + 1):
            for server in (off, on):
                progress.show(server.name, turn, rounds + 1)
                before = server.use().cpu
                answered = _matches(server, ground, rate, seconds)
                if turn:  # the first round is warm-up
                    used[server.name].append(100 * (server.use().cpu - before) / seconds)
                    took[server.name].append(answered)
        sampled = _sampled_per_second(on, ground.token)
    progress.done()
    return [
        {
            "campaigns": campaigns,
            "service": name,
            "cpu_percent": round(statistics.median(used[name]), 2),
            "more_percent": round(
                statistics.median(a - b for a, b in zip(used[name], used[OFF], strict=True)), 2
            ),
            **{
                field: round(statistics.median(one[field] for one in took[name]), 2)
                for field in ("p50_ms", "p99_ms")
            },
            "sampled_per_s": sampled if name == SAMPLING else 0,
        }
        for name in (OFF, SAMPLING)
    ]


def _matches(server: Server, ground: Stage, rate: float, seconds: float) -> Message:
    arguments = (server.port, ground.bodies, ground.token, rate, seconds, CONNECTIONS, 0)
    with Child(_STEADY, *arguments) as client:
        return client.hear()


def _sampled_per_second(server: Server, token: str) -> float:
    """Over the last sampled requests."""
    with Client(server.port, token) as client:
        kept: list[dict[str, Any]] = client.send("GET", "/v1/requests?limit=200").content["items"]
    if len(kept) < 2:
        raise Failed("nothing was sampled")
    last, first = (datetime.fromisoformat(kept[place]["at"]) for place in (0, -1))
    return round((len(kept) - 1) / (last - first).total_seconds(), 2)


FIELDS = (
    *("campaigns", "service", "cpu_percent", "more_percent"),
    *("p50_ms", "p99_ms", "sampled_per_s"),
)


def run(arguments: argparse.Namespace) -> None:
    """Measure and print; fails above the target."""
    results: list[Result] = []
    for campaigns in arguments.campaigns:
        results += measure(
            campaigns, arguments.rate, arguments.seconds, Progress(), arguments.rounds
        )
    if arguments.json:
        for result in results:
            print(json.dumps(result))
    else:
        print(table(FIELDS, [[result[name] for name in FIELDS] for result in results]))
    most = max(result["more_percent"] for result in results)
    if most > TARGET_PERCENT:
        raise Failed(f"sampling takes {most} % of a worker; the target is {100 * SHARE:.0f} %")


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Put `delivery` on the command line."""
    command = commands.add_parser("delivery", help="what sampling the delivery costs a worker")
    command.add_argument("--campaigns", type=positive, nargs="+", default=[1000, 100_000])
    command.add_argument("--rate", type=positive, default=200, help="matches a second")
    command.add_argument("--seconds", type=positive, default=15, help="length of a round")
    command.add_argument("--rounds", type=positive, default=ROUNDS)
    command.add_argument("--json", action="store_true", help="print one JSON object per service")
    command.set_defaults(run=run)
