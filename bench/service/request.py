"""The CPU of a match from the bytes of the request to the bytes of the answer, in one process.

    noop       a raw ASGI application whose answer has the same size
    service    the fast path: a known request head, a key, the index
    with_id    the same, with an `X-Request-Id` in each request
    whole      the same on the normal path, through ASGI (`app/server/fast_path.py`)
    match      the index alone, called as the service calls it

They take turns, each behind the server's protocol on an event loop but without sockets, so that a
busy machine affects all alike. Reported is the CPU of this thread, the median over the rounds; an
overhead is what remains after subtracting the no-op and the match.
"""

import argparse
import asyncio
import json
import os
import statistics
import time
from collections.abc import Awaitable, Callable
from typing import Any

import uvloop

from app.match.built_ins import built_ins
from app.match.context import MatchSettings
from app.match.recorder import Recorder
from app.match.router import MatchRouter
from app.observability.metrics.registry import Registry
from app.server.protocol import HttpProtocol
from campaigns.catalogue.model import BLOCKED_CATEGORIES
from campaigns.keys import model
from index import Query
from testkit.arguments import positive
from testkit.client import match_bodies
from testkit.constant_rate import request_of
from testkit.in_process import FixedReplica, InProcessServer, view_of
from testkit.noop import noop
from testkit.workloads import make

EVENTS = 500
LIMIT = 10
OVERHEADS = ("service", "with_id", "whole")


async def measure(campaigns: int, rounds: int, only: str | None) -> dict[str, Any]:
    """Microseconds per request."""
    token = model.token_of(*model.make())
    view = view_of(campaigns, token)
    events = make("ads").events(EVENTS)
    requests = [request_of(body, token) for body in match_bodies(events)]
    with_ids = [
        request.replace(b"\r\n", b"\r\nX-Request-Id: %032d\r\n" % place, 1)
        for place, request in enumerate(requests)
    ]
    now = time.time()
    reserved = {**built_ins(now), BLOCKED_CATEGORIES: None}
    tail = b',"epoch":"5f0c7d1e9a3b2c48","rev":42}'
    answers: list[bytes] = []

    async def match() -> float:
        answers.clear()
        started = time.thread_time()
        for event in events:
            query = Query(now, LIMIT, False, None, 0, reserved)
            answers.append(view.index.ask(event, query).to_json(tail))
        return time.thread_time() - started

    await match()
    state = {"feed": FixedReplica(view), "recorder": Recorder(Registry("0"))}
    router = MatchRouter(noop(b"}"), MatchSettings())
    service, whole = InProcessServer(router, state), InProcessServer(router, state, HttpProtocol)
    empty = InProcessServer(noop(sorted(answers, key=len)[EVENTS // 2]), {})
    for request, answer in zip(requests, answers, strict=True):
        for server in (service, whole):
            await server.answer([request])
            if not server.last.endswith(answer):
                raise AssertionError(f"wrong answer: {server.last!r}")
    turns: dict[str, Callable[[], Awaitable[float]]] = {
        "noop": lambda: empty.answer(requests),
        "service": lambda: service.answer(requests),
        "with_id": lambda: service.answer(with_ids),
        "whole": lambda: whole.answer(requests),
        "match": match,
    }
    took: dict[str, list[float]] = {name: [] for name in turns if only in (None, name)}
    for _ in range(rounds):
        for name, times in took.items():
            times.append(await turns[name]())
    result = {f"{name}_us": statistics.median(times) for name, times in took.items()}
    for name in OVERHEADS if only is None else ():
        each = zip(took[name], took["noop"], took["match"], strict=True)
        result[f"{name}_overhead_us"] = statistics.median(a - b - c for a, b, c in each)
    in_us = {name: round(1e6 * each / EVENTS, 1) for name, each in result.items()}
    return {"campaigns": campaigns, **in_us, "load": round(os.getloadavg()[0], 1)}


def run(arguments: argparse.Namespace) -> None:
    """Measure and print."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        measured = measure(arguments.campaigns, arguments.rounds, arguments.only)
        print(json.dumps(runner.run(measured)))


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Put `request` on the command line."""
    command = commands.add_parser("request", help="a match inside the server, and a no-op")
    command.add_argument("--campaigns", type=positive, default=10_000)
    command.add_argument("--rounds", type=positive, default=21)
    command.add_argument("--only", choices=("noop", *OVERHEADS, "match"), help="for a profiler")
    command.set_defaults(run=run)
