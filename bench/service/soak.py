"""Soak test: minutes at 70% of the maximum throughput, with 50 campaign writes a second.

wrk measures the maximum for a few seconds first. Then requests are sent on a fixed schedule
(`testkit/constant_rate.py`) while managers write through the API of the same process. At the end
the index must have the digest of the database, and its answers are compared with an index in this
process. The exit status is 1 after a refused or failed request or write, or if the lag or the
memory growth exceeds its limit.
"""

import argparse
import json
import os
import statistics
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus

from bench.index.measure import Result
from bench.service.soak_writer import Writer
from testkit import wrk
from testkit.answers import answer_of, check
from testkit.arguments import positive
from testkit.child import Child, Message
from testkit.constant_rate import SHARES, milliseconds
from testkit.progress import Progress
from testkit.sampler import Sampler
from testkit.servers import redis_server
from testkit.service import Server, service
from testkit.stage import Stage, stage

SHARE = 0.7
MOST_LAG_SECONDS = 2.0
FEWEST_WRITES = 0.9
"""Share of the scheduled writes that must be made."""

MOST_GROWTH = 0.02
MOST_GROWTH_MB = 8.0
"""Memory may grow by 2% or 8 MB after the warm-up, whichever is more."""

WARM_UP = 0.25
"""Share of the run in which memory may still grow."""

_STEADY = "testkit.constant_rate"
_WRITERS = 16
"""Enough that slow writes do not lower the rate."""
_TEXTS = 50
_PROBE_SECONDS = 5
_SAMPLE = 200


@dataclass(frozen=True, slots=True)
class Sample:
    """One reading: seconds of the clock, resident bytes, and the server's lag."""

    at: float
    memory: int
    lag_seconds: float
    lag_revs: float


def measure(
    campaigns: int,
    seconds: float,
    writes: int,
    connections: int,
    progress: Progress,
    rate: float | None = None,
) -> Result:
    """One run; `violations` lists what went wrong. `rate` replaces the share of the maximum."""
    load = round(os.getloadavg()[0], 2)
    with (
        stage(campaigns, progress) as ground,
        redis_server() as redis,
        service("service", ground.url, campaigns, redis_url=redis.url) as server,
    ):
        if rate is None:
            progress.show("maximum", 0, 1)
            found = wrk.drive(server.url, ground.bodies, ground.token, _PROBE_SECONDS, connections)
            rate = SHARE * found.rate
        writers = _writers(server, ground, writes)
        watch = Sampler(lambda: _sample(server), min(1.0, seconds / 20))
        steady = _together(server, ground, (rate, seconds, connections), [*writers, watch])
        progress.show("answers", 0, 1)
        rev, _ = ground.settle(server)
        compared = _compare(server, ground)
    progress.done()
    result = {"campaigns": campaigns, "seconds": seconds, **_matching(steady)}
    result |= {**_writing(writers, seconds), "writes_wanted_per_s": writes}
    result |= {**_watching(watch), "rev": rev, "answers_compared": compared}
    return result | {"load_before": load, "violations": violations(result)}


def _writers(server: Server, ground: Stage, writes: int) -> list[Writer]:
    texts = ground.workload.texts(_TEXTS)
    return [
        Writer(
            server.port,
            ground.token,
            range(1 + number, 1 + ground.campaigns, _WRITERS),
            texts,
            _WRITERS / writes,
        )
        for number in range(_WRITERS)
    ]


def _together(
    server: Server,
    ground: Stage,
    load: tuple[float, float, int],
    others: Sequence[Writer | Sampler[Sample]],
) -> Message:
    """Send matches while the others run."""
    with Child(_STEADY, server.port, ground.bodies, ground.token, *load, 0) as client:
        for each in others:
            each.start()
        try:
            return client.hear()
        finally:
            for each in others:
                each.stop()
            for each in others:
                each.join()


def _compare(server: Server, ground: Stage) -> int:
    """Compare answers with an index of the database as it is now."""
    index = ground.index()
    sent = time.time()
    bodies = server.post(ground.sample(_SAMPLE), ground.token)
    answers = [
        answer_of(place, sent, time.time(), 200, body.decode()) for place, body in enumerate(bodies)
    ]
    return check(index, ground.events, answers).count()


def _sample(server: Server) -> Sample:
    numbers = server.metrics()
    lag = numbers["copse_feed_lag_seconds"], numbers["copse_feed_lag_revs"]
    return Sample(time.monotonic(), server.use().memory, *lag)


def slope(samples: list[Sample]) -> float:
    """Growth of memory after the warm-up, in bytes per minute, by least squares."""
    settled = after_warm_up(samples)
    if len(settled) < 2:
        return 0.0
    times, sizes = [each.at for each in settled], [float(each.memory) for each in settled]
    return 60 * statistics.linear_regression(times, sizes).slope


def after_warm_up(samples: list[Sample]) -> list[Sample]:
    """The samples that count."""
    return samples[int(WARM_UP * len(samples)) :]


def _matching(steady: Message) -> Result:
    statuses = {int(status): count for status, count in steady["statuses"].items()}
    return {
        "rate": round(steady["rate"]),
        "requests": steady["requests"],
        "failed": steady["failed"],
        "refused": sum(count for status, count in statuses.items() if status != HTTPStatus.OK),
        "statuses": statuses,
        **{name: steady[name] for name in SHARES},
    }


def _writing(writers: Sequence[Writer], seconds: float) -> Result:
    took = sorted(each for writer in writers for each in writer.took)
    seen = sorted(each for writer in writers for each in writer.seen)
    failed = sum((writer.failed for writer in writers), Counter[str]())
    return {
        "writes": sum(writer.writes for writer in writers),
        "writes_per_s": round(sum(writer.writes for writer in writers) / seconds, 1),
        "writes_failed": dict(failed),
        "write_p50_ms": milliseconds(took, 0.5),
        "write_p99_ms": milliseconds(took, 0.99),
        "seen_p50_ms": milliseconds(seen, 0.5),
        "seen_max_ms": milliseconds(seen, 1.0),
        "unseen": sum(writer.unseen for writer in writers),
    }


def _watching(watch: Sampler[Sample]) -> Result:
    settled = after_warm_up(watch.samples)
    minutes = (settled[-1].at - settled[0].at) / 60
    return {
        "memory_mb": round(settled[0].memory / 1e6, 1),
        "memory_mb_per_minute": round(slope(watch.samples) / 1e6, 3),
        "growth_mb": round(minutes * slope(watch.samples) / 1e6, 2),
        "lag_s_max": round(max(each.lag_seconds for each in watch.samples), 3),
        "lag_revs_max": round(max(each.lag_revs for each in watch.samples)),
        "unheard": watch.missed,
    }


def violations(result: Result) -> list[str]:
    """Everything that went wrong in a run."""
    grown = max(MOST_GROWTH_MB, MOST_GROWTH * result["memory_mb"])
    wanted = FEWEST_WRITES * result["writes_wanted_per_s"]
    wrong = {
        "requests failed": result["failed"],
        "requests refused": result["refused"],
        "writes failed": result["writes_failed"],
        f"fewer than {wanted:g} writes a second": result["writes_per_s"] < wanted,
        "writes that a match did not see in time": result["unseen"],
        f"lag above {MOST_LAG_SECONDS} s": result["lag_s_max"] > MOST_LAG_SECONDS,
        f"grew by more than {grown:.1f} MB": result["growth_mb"] > grown,
    }
    return [what for what, found in wrong.items() if found]


def run(arguments: argparse.Namespace) -> None:
    """Measure, print, and exit with 1 after a violation."""
    seconds = 60 * arguments.minutes
    result = measure(
        arguments.campaigns,
        seconds,
        arguments.writes,
        arguments.connections,
        Progress(),
        arguments.rate,
    )
    if arguments.json:
        print(json.dumps(result))
    else:
        for name, value in result.items():
            print(f"{name:>20}  {value}")
    if result["violations"]:
        sys.exit(1)


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Put `soak` on the command line."""
    command = commands.add_parser("soak", help="matches and writes at the same time, for minutes")
    command.add_argument("--campaigns", type=positive, default=100_000)
    command.add_argument("--minutes", type=float, default=10.0)
    command.add_argument("--writes", type=positive, default=50, help="per second")
    command.add_argument("--connections", type=positive, default=64)
    command.add_argument("--rate", type=float, help="matches per second, instead of 70%%")
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.set_defaults(run=run)
