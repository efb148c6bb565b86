"""The CPU of a match from the bytes of its request to those of its answer, in one process.

    noop       a raw ASGI application that answers as many bytes
    service    the front door, a key, the index
    with_id    the same, with an `X-Request-Id` of its own in each request
    whole      the same by the whole way, through ASGI (`app/shortcut.py`)
    match      the index alone, asked as the service asks it

They take turns, all behind the server's own protocol on an event loop but without sockets, so
that a busy machine does the same to each. What counts is the CPU of this thread, and of the rounds
the median; an overhead is what is left without the no-op's and the match.
"""

import argparse
import asyncio
import json
import os
import statistics
import time
from collections.abc import Awaitable, Callable
from typing import Any

import uvicorn
import uvloop
from starlette.types import ASGIApp
from uvicorn.server import ServerState

from app.arrival import NotingProtocol
from app.matching.front_door import FrontDoor
from app.matching.hot_path import HotPath
from app.matching.moment import built_ins
from app.matching.watching import Watching
from app.metrics.registry import Registry
from app.shortcut import ShortcutProtocol
from bench.http.bodies import body_of
from bench.http.noop import noop
from bench.http.steady import request_of
from bench.match import positive
from bench.workloads import cache, make
from campaigns import keys
from campaigns.catalogue import BLOCKED_CATEGORIES, schema_of
from campaigns.feed.view import ServedKey, View
from campaigns.ranking import score_of
from index import Index

EVENTS = 500
LIMIT = 10
OVERHEADS = ("service", "with_id", "whole")


class Wire(asyncio.Transport):
    """A connection whose other end is this benchmark; an answer ends with a brace."""

    def __init__(self, answered: Callable[[], None]) -> None:
        super().__init__()
        self.written: list[bytes] = []
        self.closed = False
        self._answered = answered

    def write(self, data: Any) -> None:
        self.written.append(data)
        if data.endswith(b"}"):
            self._answered()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return {"peername": ("127.0.0.1", 1), "sockname": ("127.0.0.1", 2)}.get(name, default)

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


class Behind:
    """What a connection to an application answers."""

    def __init__(
        self, app: ASGIApp, state: dict[str, Any], protocol: type[NotingProtocol] = ShortcutProtocol
    ) -> None:
        config = uvicorn.Config(app, access_log=False, log_level="warning", server_header=False)
        config.load()
        # The server's own clock does this each second.
        server = ServerState()
        server.default_headers = [(b"date", b"Tue, 17 Nov 2026 06:00:00 GMT")]
        self._loop = asyncio.get_running_loop()
        self.protocol = protocol(config, server, state, self._loop)
        self.wire = Wire(self._next)
        self.protocol.connection_made(self.wire)
        self._requests: list[bytes] = []
        self._done = self._loop.create_future()
        self.last = b""

    def _next(self) -> None:
        self.last = b"".join(self.wire.written)
        self.wire.written.clear()
        if self._requests:
            self._loop.call_soon(self._send)
        elif not self._done.done():
            self._done.set_result(None)

    def _send(self) -> None:
        self.protocol.data_received(self._requests.pop())

    async def answer(self, requests: list[bytes]) -> float:
        """CPU seconds for all of them, one after the other."""
        self._requests = requests[::-1]
        self._done = self._loop.create_future()
        started = time.thread_time()
        self._send()
        await self._done
        return time.thread_time() - started


class Still:
    """A replica that stands still."""

    def __init__(self, view: View) -> None:
        self.current = view
        self.follower = self


def view_of(campaigns: int, token: str) -> View:
    """An index with so many campaigns of the ads workload, and one key."""
    workload = make("ads")
    index = Index(schema_of((each.name, each.type.value) for each in workload.schema))
    rows = ((id, tree.encode()) for id, tree in cache.items(workload, campaigns, lambda *_: None))
    index.insert_json(
        [(id + 1, tree, score_of(id % 10, id), None, None, id % 100 + 1, 1) for id, tree in rows]
    )
    prefix, secret = keys.split(token) or ("", "")
    key = ServedKey(1, prefix, keys.hash_of(secret), frozenset({"match"}), None)
    view = View(index, {}, keys={prefix: key})
    view.arrive("5f0c7d1e9a3b2c48", 42, "")
    return view


async def measure(campaigns: int, rounds: int, only: str | None) -> dict[str, Any]:
    """Microseconds a request."""
    token = keys.token_of(*keys.make())
    view = view_of(campaigns, token)
    events = make("ads").events(EVENTS)
    requests = [request_of(body_of(event), token) for event in events]
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
            answers.append(view.index.top_answer(event, LIMIT, now, builtins=reserved, tail=tail))
        return time.thread_time() - started

    await match()
    state = {"feed": Still(view), "watching": Watching(Registry("0"))}
    door = FrontDoor(noop(b"}"), HotPath())
    service, whole = Behind(door, state), Behind(door, state, NotingProtocol)
    empty = Behind(noop(sorted(answers, key=len)[EVENTS // 2]), {})
    for request, answer in zip(requests, answers, strict=True):
        for server in (service, whole):
            await server.answer([request])
            if not server.last.endswith(answer):
                raise AssertionError(f"a wrong answer: {server.last!r}")
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
    command = commands.add_parser("request", help="a match inside the server, beside a no-op")
    command.add_argument("--campaigns", type=positive, default=10_000)
    command.add_argument("--rounds", type=positive, default=21)
    command.add_argument("--only", choices=("noop", *OVERHEADS, "match"), help="for a profiler")
    command.set_defaults(run=run)
