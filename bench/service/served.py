"""The time in the index, back to back and with more and more of the service between two matches.

    alone      the same query, the same dictionaries, in a tight loop
    read       each event was just read from the body of its request
    server     the service's match metric: protocol, queue, router and answer are in between
    sockets    the same behind real connections that wrk keeps busy

All in one process, on one index, in turns; wall time, microseconds for a match.
"""

import asyncio
import statistics
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter, time
from typing import Any

import uvloop

from app.match.context import MatchSettings
from app.match.recorder import Recorder
from app.match.request import read
from app.match.router import MatchRouter
from app.match.single import reserved
from app.observability.metrics.numbers import Histogram
from app.observability.metrics.registry import Registry
from campaigns.keys import model
from index import Index, Query
from testkit import wrk
from testkit.client import match_bodies
from testkit.constant_rate import request_of
from testkit.in_process import FixedReplica, InProcessServer, view_with
from testkit.noop import noop
from testkit.workloads.workload import Event

LIMIT = 10
TAIL = b',"epoch":"5f0c7d1e9a3b2c48","rev":42}'
CONNECTIONS = 16
WRK_SECONDS = 1


def served(index: Index, events: Sequence[Event], rounds: int) -> dict[str, float]:
    """The medians over the rounds; the first one is a warm-up."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_measure(index, events, rounds))


async def _measure(index: Index, events: Sequence[Event], rounds: int) -> dict[str, float]:
    token = model.token_of(*model.make())
    registry = Registry("0")
    state = {"feed": FixedReplica(view_with(index, token)), "recorder": Recorder(registry)}
    server = InProcessServer(MatchRouter(noop(b"}"), MatchSettings()), state)
    bodies = match_bodies(events)
    requests = [request_of(body, token) for body in bodies]
    metric = registry.histogram("copse_match_duration_seconds")
    now = time()
    query = Query(now, LIMIT, False, None, 0, reserved(int(now // 3600)))
    took: dict[str, list[float]] = {"alone": [], "read": [], "server": [], "sockets": []}
    listening = await asyncio.get_running_loop().create_server(server.connection, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"".join(body + b"\n" for body in bodies))
        file.flush()
        for _ in range(rounds + 1):
            took["alone"].append(_mean(index, query, events, lambda event: event))
            took["read"].append(_mean(index, query, bodies, lambda body: read(body).attributes))
            before = _state_of(metric)
            await server.answer(requests)
            took["server"].append(_since(before, metric))
            before = _state_of(metric)
            path = Path(file.name)
            await asyncio.to_thread(wrk.drive, url, path, token, WRK_SECONDS, CONNECTIONS)
            took["sockets"].append(_since(before, metric))
    listening.close()
    return {name: 1e6 * statistics.median(times[1:]) for name, times in took.items()}


def _mean(index: Index, query: Query, sent: Sequence[Any], event: Callable[[Any], Event]) -> float:
    took = 0.0
    for each in sent:
        attributes = event(each)
        started = perf_counter()
        index.candidates(attributes, query).to_json(TAIL)
        took += perf_counter() - started
    return took / len(sent)


def _state_of(metric: Histogram) -> tuple[float, int]:
    return metric.sum, sum(metric.counts)


def _since(before: tuple[float, int], metric: Histogram) -> float:
    total, count = _state_of(metric)
    return (total - before[0]) / (count - before[1])
