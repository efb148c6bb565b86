"""At most a few admin requests run at once, so that matches are not late.

An admin request is a few milliseconds of Python, in steps between which other work can run. In each
turn of the event loop every request that is ready takes a step, so the wait of a match grows with
their number. Further admin requests wait here, in order, and cost nothing meanwhile. A request that
waits for an analysis or a forecast steps aside (`campaigns/turns.py`).
"""

import asyncio
from collections.abc import Container

from starlette.types import ASGIApp, Receive, Scope, Send

from campaigns.turns import turn

AT_ONCE = 3


class AdminShare:
    """Pure ASGI. Paths that are `exempt` never wait: probes, and imports, which are long and have
    limits of their own."""

    def __init__(self, app: ASGIApp, exempt: Container[str], at_once: int = AT_ONCE) -> None:
        self.app = app
        self._exempt = exempt
        self._turns = asyncio.Semaphore(at_once)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in self._exempt:
            await self.app(scope, receive, send)
            return
        async with turn(self._turns):
            await self.app(scope, receive, send)
