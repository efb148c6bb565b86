"""Admin requests take turns: in each turn of the event loop, one of them goes one step further.

A step is what a request computes between two waits: for its body, the database, a client that reads
slowly. While it waits it has no turn, so nobody can keep one.

    turn of the loop      1        2        3        4
    matches              ████     ██       ████     ███      for 2 ms each (`match_queue.py`)
    admin requests       A1       B1       C1       A2

Without it, all steps that are ready run one after the other, and a match waits for all of them:
with twelve clients that send one request after the other, tens of milliseconds.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Generator
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send


class AdminTurns:
    """Pure ASGI. Probes (`/healthz/…`) do not wait for a turn."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._turns = Turns()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith("/healthz/"):
            await self.app(scope, receive, send)
        else:
            await Stepwise(self.app(scope, receive, send), self._turns)


class Turns:
    """Gives the turns, in the order in which they were asked for."""

    def __init__(self) -> None:
        self._taken = False
        self._waiting: deque[asyncio.Future[None]] = deque()

    def take(self) -> Generator[Any, None, None]:
        """Wait for a turn."""
        if not self._taken:
            self._taken = True
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        yield from turn

    def end(self) -> None:
        """The next turn is in the next turn of the event loop."""
        if self._waiting:
            self._next()
        else:
            asyncio.get_running_loop().call_soon(self._next)

    def _next(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():  # its request may have been cancelled
                turn.set_result(None)
                return
        self._taken = False


class Stepwise:
    """An awaitable that takes a turn for each of its steps."""

    def __init__(self, whole: Awaitable[None], turns: Turns) -> None:
        self._whole = whole
        self._turns = turns

    def __await__(self) -> Generator[Any, None, None]:
        steps, turns = self._whole.__await__(), self._turns
        error: BaseException | None = None
        while True:
            has_turn = False
            try:
                yield from turns.take()
                has_turn = True
            except asyncio.CancelledError as cancelled:
                error = cancelled
            try:
                awaited = steps.send(None) if error is None else steps.throw(error)
            except StopIteration:
                return
            finally:
                if has_turn:
                    turns.end()
            error = None
            try:
                yield awaited
            except GeneratorExit:
                steps.close()
                raise
            except BaseException as raised:
                error = raised
