"""The cost of a match over HTTP, compared with a no-op on the same server and with the index alone.

    maximum load     noop, noop that matches, service, service with impressions, in turns: the
                     medians over the rounds of CPU per request and of the match (its metric)
    half of that     p50, p99 and p99.9 of service and noop, on a fixed schedule, in turns: the
                     medians over the rounds. The other servers have ended by then, since all share
                     the machine. The answers to the first requests are compared with an index in
                     this process

`overhead_us` is the service's CPU per request minus the no-op's and minus the match.
`overhead_thread_us` is the same for the serving thread only, without background work that runs at a
fixed rate. The `noop that matches` shows how much of both is not the service's code: a match in a
large index evicts the server from the CPU caches.

The match metric is wall time, which grows on a busy machine. `overhead_strict_us` therefore counts
only the share of it in which the runnable server had a CPU (`had_cpu`); on an idle machine the two
are equal. `match_alone_us` is the CPU of the same match in a tight loop with warm caches, in an
index in this process that is planned by its own sample, as the service's is; `match_ratio` is the
service's match over that, both of the same round.
"""

import argparse
import json
import os
import statistics
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from bench.index.measure import Result
from bench.service import openrtb
from bench.service.load import ROUNDS, Figures, drive, median, result_of
from bench.service.matching_noop import matching_noop
from index import Index
from testkit import local_index
from testkit.answers import answer_of, check
from testkit.arguments import positive
from testkit.child import Child, Message
from testkit.markdown import table
from testkit.progress import Progress
from testkit.servers import redis_server
from testkit.service import Server, noop, service
from testkit.stage import Stage, stage

SAMPLE = 200
TARGET_US = 20.0
"""Most CPU of a request beyond the no-op and the match."""

_STEADY = "testkit.constant_rate"


def measure(
    campaigns: int, seconds: int, connections: int, progress: Progress, rounds: int = ROUNDS
) -> list[Result]:
    """One result for each server, the no-op first."""
    load = round(os.getloadavg()[0], 2)
    with (
        stage(campaigns, progress) as ground,
        redis_server() as redis,
        ExitStack() as running,
        ExitStack() as others,
    ):
        settings = {"redis_url": redis.url}
        plain = running.enter_context(service("service", ground.url, campaigns, **settings))
        logging = others.enter_context(
            service(
                "service, impressions",
                ground.url,
                campaigns,
                **settings,
                impressions_dir=ground.directory / "impressions",
                impression_sample_rate=1,
            )
        )
        bodies = ground.sample(len(ground.events))
        answer = median(plain.post(bodies, ground.token))
        (ground.directory / "answer").write_bytes(answer)
        file = ground.directory / "answer"
        empty = running.enter_context(noop(file))
        matching = others.enter_context(matching_noop(file, ground.url, ground.bodies))
        servers = (empty, matching, plain, logging)
        figures = {server.name: Figures() for server in servers}
        index = ground.index()
        local_index.plan(index, ground.events)
        alone: list[float] = []
        for turn in range(rounds):
            for place, server in enumerate(servers):
                progress.show(server.name, turn * len(servers) + place, rounds * len(servers))
                drive(server, ground, seconds, connections, figures[server.name], turn == 0)
            alone.append(local_index.match_cpu_us(index, ground.events))
        lost = logging.metrics().get("copse_impressions_lost_total", 0.0)
        row_bytes = _mean_line(ground.directory / "impressions")
        others.close()
        half = statistics.median(figures[plain.name].rates) / 2
        steady: dict[str, list[Message]] = {empty.name: [], plain.name: []}
        for turn in range(rounds):
            for server in (empty, plain):
                progress.show(f"{server.name}: {half:.0f} a second", turn, rounds)
                steady[server.name].append(_steady(server, ground, half, seconds, connections))
        progress.show("answers", 0, 1)
        compared = _compare(index, ground, steady[plain.name][0])
    progress.done()
    common: Result = {
        "campaigns": campaigns,
        "body_bytes": len(median(bodies)),
        "answer_bytes": len(answer),
    }
    results = []
    for server in servers:
        result = {"server": server.name, **common, **result_of(figures[server.name])}
        if server is not empty:
            result |= _overhead(figures[server.name], figures[empty.name], alone)
        if server.name in steady:
            result |= _latencies(steady[server.name])
        if server is plain:
            result |= {"answers_compared": compared, "answers_equal": True}
        if server is logging:
            result |= {"impressions_lost": round(lost), "impression_bytes": round(row_bytes)}
        results.append(result | {"load_before": load})
    return results


def _mean_line(folder: Path) -> float:
    """The mean length of the lines of all files in a folder, in bytes."""
    texts = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    return sum(map(len, texts)) / max(1, sum(text.count(b"\n") for text in texts))


def _steady(server: Server, ground: Stage, rate: float, seconds: int, connections: int) -> Message:
    arguments = (server.port, ground.bodies, ground.token, rate, seconds, connections, SAMPLE)
    with Child(_STEADY, *arguments) as client:
        return {"begun": time.time(), **client.hear()}


def _compare(index: Index, ground: Stage, steady: Message) -> int:
    answers = [
        answer_of(int(place), steady["begun"], at, 200, answer)
        for place, (at, answer) in steady["answers"].items()
    ]
    return check(index, ground.events, answers).count()


def _overhead(figures: Figures, base: Figures, alone: list[float]) -> Result:
    rounds = list(zip(figures.cpu, base.cpu, figures.match, figures.had, strict=True))
    over = statistics.median(cpu - noop - match for cpu, noop, match, _ in rounds)
    strict = statistics.median(cpu - noop - match * had for cpu, noop, match, had in rounds)
    threads = zip(figures.thread, base.thread, figures.match, strict=True)
    thread = statistics.median(own - noop - match for own, noop, match in threads)
    return {
        "match_us": round(statistics.median(figures.match), 1),
        "match_alone_us": round(statistics.median(alone), 1),
        "match_ratio": round(
            statistics.median(a / b for a, b in zip(figures.match, alone, strict=True)), 2
        ),
        "overhead_us": round(over, 1),
        "overhead_strict_us": round(strict, 1),
        "overhead_thread_us": round(thread, 1),
        "target_us": TARGET_US,
        "met": over <= TARGET_US,
    }


def _latencies(rounds: list[Message]) -> Result:
    p99 = [each["p99_ms"] for each in rounds]
    return {
        "steady_per_s": round(rounds[0]["rate"]),
        "p50_ms": statistics.median(each["p50_ms"] for each in rounds),
        "p99_ms": statistics.median(p99),
        "p99_ms_rounds": p99,
        "p99_9_ms": statistics.median(each["p99_9_ms"] for each in rounds),
        "max_ms": max(each["max_ms"] for each in rounds),
        "failed": sum(each["failed"] for each in rounds),
        "statuses": sum((Counter(each["statuses"]) for each in rounds), Counter()),
    }


FIELDS = (
    "server",
    "requests_per_s",
    "cpu_us",
    "match_us",
    "match_alone_us",
    "match_ratio",
    "overhead_us",
    "overhead_strict_us",
    "overhead_thread_us",
    "had_cpu",
    "steady_per_s",
    "p50_ms",
    "p99_ms",
    "p99_9_ms",
)


def run(arguments: argparse.Namespace) -> None:
    """Measure and print."""
    is_match = arguments.route == "match"
    made = measure if is_match else openrtb.measure
    results = made(arguments.campaigns, arguments.seconds, arguments.connections, Progress())
    if arguments.json:
        for result in results:
            print(json.dumps(result))
        return
    fields = FIELDS if is_match else openrtb.FIELDS
    print(table(fields, [[result.get(name) for name in fields] for result in results]))
    if is_match:
        compared = next(each["answers_compared"] for each in results if "answers_compared" in each)
        print(f"{compared} answers equal those of an index in this process")


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Put `http` on the command line."""
    command = commands.add_parser("http", help="a match over HTTP, compared with a no-op")
    command.add_argument("--route", choices=("match", "openrtb"), default="match")
    command.add_argument("--campaigns", type=positive, default=100_000)
    command.add_argument("--seconds", type=positive, default=10, help="length of a round")
    command.add_argument("--connections", type=positive, default=16)
    command.add_argument("--json", action="store_true", help="print one JSON object per server")
    command.set_defaults(run=run)
