"""Minutes at 70% of the maximum, with 50 campaign writes a second: what breaks, what grows?

The maximum is what wrk gets in a few seconds before. Requests are then sent on a fixed schedule
(`testkit/constant_rate.py`), and managers write through the API of the same process. At the end the
index has the digest of the database, and its answers are those of an index in this process. Any
refused or failed request or write, a lag or a growth of memory beyond its bound: exit status 1.
"""

import argparse
import asyncio
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from http import HTTPStatus
from itertools import islice

from bench.index.measure import Result
from bench.service.soak_monitor import Watch, after_warm_up, slope
from bench.service.soak_writer import Writer
from bench.service.stage import Stage, stage
from index.language import from_json
from testkit import expected, wrk
from testkit.arguments import positive
from testkit.child import Child, ChildFailed, Message
from testkit.constant_rate import SHARES, milliseconds
from testkit.database import truth
from testkit.progress import Progress
from testkit.servers import ServerFailed, redis_server
from testkit.service import NotServing, Server, service

SHARE = 0.7
MOST_LAG_SECONDS = 2.0
FEWEST_WRITES = 0.9
"""The share of the writes that must have been made in their time."""

MOST_GROWTH = 0.02
MOST_GROWTH_MB = 8.0
"""Memory may grow by so much after the warm-up, or by that share, whichever is more."""

_STEADY = "testkit.constant_rate"
_WRITERS = 16
"""Enough that each write may take a while."""
_TEXTS = 50
_PROBE_SECONDS = 5
_SETTLE_SECONDS = 30
_SAMPLE = 200


def measure(
    campaigns: int,
    seconds: float,
    writes: int,
    connections: int,
    progress: Progress,
    rate: float | None = None,
) -> Result:
    """The run; `violations` says what was not as it should be. `rate` instead of a share."""
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
        watch = Watch(server, min(1.0, seconds / 20))
        steady = _together(server, ground, (rate, seconds, connections), [*writers, watch])
        progress.show("answers", 0, 1)
        rev = _settle(server, ground)
        compared = _compare(server, ground)
    progress.done()
    result = {"campaigns": campaigns, "seconds": seconds, **_matching(steady)}
    result |= {**_writing(writers, seconds), "writes_wanted_per_s": writes}
    result |= {**_watching(watch), "rev": rev, "answers_compared": compared}
    return result | {"load_before": load, "violations": violations(result)}


def _writers(server: Server, ground: Stage, writes: int) -> list[Writer]:
    schema = ground.workload.schema
    trees = islice(ground.workload.expressions(), _TEXTS)
    texts = [str(from_json(tree, schema)) for tree in trees]
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
    server: Server, ground: Stage, load: tuple[float, float, int], others: Sequence[Writer | Watch]
) -> Message:
    """Matches, while the others run."""
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


def _settle(server: Server, ground: Stage) -> int:
    """Wait until the index is the database; its rev."""
    deadline = time.monotonic() + _SETTLE_SECONDS
    wanted = (0, "")
    while time.monotonic() < deadline:
        rev, digest = truth(ground.url)
        wanted = (rev, f"{digest:016x}")
        (worker,) = json.loads(server.get("/v1/index", ground.token))["workers"]
        if (worker["rev"], worker["digest"]) == wanted and not worker["poisoned"]:
            return rev
        time.sleep(0.2)
    raise NotServing(f"the index is not the database: {worker}, not {wanted}")


def _compare(server: Server, ground: Stage) -> int:
    """How many answers are those of an index that was made of the database now."""
    index = asyncio.run(expected.build(ground.url, ground.workload))
    begun = time.time()
    answers = server.post(ground.sample(_SAMPLE), ground.token)
    told = {place: (time.time(), answer.decode()) for place, answer in enumerate(answers)}
    return expected.compare(index, ground.events, told, begun)


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


def _watching(watch: Watch) -> Result:
    settled = after_warm_up(watch.samples)
    minutes = (settled[-1].at - settled[0].at) / 60
    return {
        "memory_mb": round(settled[0].memory / 1e6, 1),
        "memory_mb_per_minute": round(slope(watch.samples) / 1e6, 3),
        "growth_mb": round(minutes * slope(watch.samples) / 1e6, 2),
        "lag_s_max": round(max(each.lag_seconds for each in watch.samples), 3),
        "lag_revs_max": round(max(each.lag_revs for each in watch.samples)),
        "unheard": watch.unheard,
    }


def violations(result: Result) -> list[str]:
    """What a run did that it must not."""
    grown = max(MOST_GROWTH_MB, MOST_GROWTH * float(str(result["memory_mb"])))
    wanted = FEWEST_WRITES * float(str(result["writes_wanted_per_s"]))
    wrong = {
        "requests failed": result["failed"],
        "requests refused": result["refused"],
        "writes failed": result["writes_failed"],
        f"fewer than {wanted:g} writes a second": float(str(result["writes_per_s"])) < wanted,
        "writes that a match did not see in time": result["unseen"],
        f"lag above {MOST_LAG_SECONDS} s": float(str(result["lag_s_max"])) > MOST_LAG_SECONDS,
        f"grew by more than {grown:.1f} MB": float(str(result["growth_mb"])) > grown,
    }
    return [what for what, found in wrong.items() if found]


def run(arguments: argparse.Namespace) -> None:
    """Measure, print, and fail if something was not as it should be."""
    seconds = 60 * arguments.minutes
    try:
        result = measure(
            arguments.campaigns,
            seconds,
            arguments.writes,
            arguments.connections,
            Progress(),
            arguments.rate,
        )
    except (ServerFailed, ChildFailed, NotServing, wrk.NoWrk) as error:
        sys.exit(str(error))
    if arguments.json:
        print(json.dumps(result))
    else:
        for name, value in result.items():
            print(f"{name:>20}  {value}")
    if result["violations"]:
        sys.exit(1)


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Put `soak` on the command line."""
    command = commands.add_parser("soak", help="matches and writes at once, for minutes")
    command.add_argument("--campaigns", type=positive, default=100_000)
    command.add_argument("--minutes", type=float, default=10.0)
    command.add_argument("--writes", type=positive, default=50, help="a second")
    command.add_argument("--connections", type=positive, default=64)
    command.add_argument("--rate", type=float, help="matches a second, instead of 70%% of the most")
    command.add_argument("--json", action="store_true", help="one JSON object")
    command.set_defaults(run=run)
