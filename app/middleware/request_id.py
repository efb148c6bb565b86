"""The id that a request goes by, in its answer and in what is logged of it.

A client may choose it (`X-Request-Id`); one that is long or strange is not taken, since it is
written into logs. Where nobody chose one it is made, on the match routes only when there is
something to say: `secrets` alone would cost as much as a tenth of a match.
"""

import re
from contextvars import ContextVar
from secrets import token_hex

from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADER = b"x-request-id"
ALPHABET = rb"[A-Za-z0-9._:/+=-]{1,128}"
"""What an id may be."""

_SANE = re.compile(ALPHABET)

current: ContextVar[str] = ContextVar("request_id", default="")
"""The id of the request that is being answered here; empty where there is none."""


def take(sent: bytes | None) -> str:
    """An id that was sent, if it is one, and only one; else nothing."""
    return sent.decode("ascii") if sent and _SANE.fullmatch(sent) else ""


def make() -> str:
    """A new one."""
    return token_hex(8)


class RequestIds:
    """Gives every request an id, and every answer the id of its request. Pure ASGI; the match
    routes, which stand before it, do the same by themselves."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        sent = [value for name, value in scope["headers"] if name == HEADER]
        id = (take(sent[0]) if len(sent) == 1 else "") or make()
        current.set(id)  # each request runs in a task, so in a context, of its own

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), (HEADER, id.encode())]
            await send(message)

        await self.app(scope, receive, send_with_id)
