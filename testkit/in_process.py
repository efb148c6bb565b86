"""The service in this process: its protocol on an event loop, a transport without a socket, and an
index that never changes.
"""

import asyncio
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.server import ServerState

from app.server.fast_path import FastPathProtocol
from app.server.protocol import HttpProtocol
from campaigns.catalogue.model import schema_of
from campaigns.feed.view import ServedKey, View
from campaigns.keys import model
from index import Index
from index.score import score_of
from testkit.workloads import cache, make


class CollectingTransport(asyncio.Transport):
    """A transport that collects what the server writes; an answer ends with a brace."""

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


class InProcessServer:
    """One connection to an application."""

    def __init__(
        self, app: ASGIApp, state: dict[str, Any], protocol: type[HttpProtocol] = FastPathProtocol
    ) -> None:
        config = uvicorn.Config(app, access_log=False, log_level="warning", server_header=False)
        config.load()
        # Normally uvicorn sets this header every second.
        server = ServerState()
        server.default_headers = [(b"date", b"Tue, 17 Nov 2026 06:00:00 GMT")]
        self._loop = asyncio.get_running_loop()
        self.connection = partial(protocol, config, server, state, self._loop)
        """Makes one more connection, for `create_server`."""

        self.protocol = self.connection()
        self.transport = CollectingTransport(self._next)
        self.protocol.connection_made(self.transport)
        self._requests: list[bytes] = []
        self._done = self._loop.create_future()
        self.last = b""

    def _next(self) -> None:
        self.last = b"".join(self.transport.written)
        self.transport.written.clear()
        if self._requests:
            self._loop.call_soon(self._send)
        elif not self._done.done():
            self._done.set_result(None)

    def _send(self) -> None:
        self.protocol.data_received(self._requests.pop())

    async def answer(self, requests: list[bytes]) -> float:
        """Send all requests in sequence; returns the CPU seconds."""
        self._requests = requests[::-1]
        self._done = self._loop.create_future()
        started = time.thread_time()
        self._send()
        await self._done
        return time.thread_time() - started


class FixedReplica:
    """A replica that never changes."""

    def __init__(self, view: View) -> None:
        self.current = view
        self.follower = self


def view_of(campaigns: int, token: str) -> View:
    """A view with campaigns of the ads workload and one key."""
    workload = make("ads")
    index = Index(schema_of((each.name, each.type.value) for each in workload.schema))
    rows = ((id, tree.encode()) for id, tree in cache.items(workload, campaigns, lambda *_: None))
    index.insert_json(
        [(id + 1, tree, score_of(id % 10, id), None, None, id % 100 + 1, 1) for id, tree in rows]
    )
    return view_with(index, token)


def view_with(index: Index, token: str) -> View:
    """A view with an index and one key."""
    prefix, secret = model.split(token) or ("", "")
    key = ServedKey(1, prefix, model.hash_of(secret), frozenset({"match"}), None)
    view = View(index, {}, keys={prefix: key})
    view.arrive("5f0c7d1e9a3b2c48", 42, "")
    return view
