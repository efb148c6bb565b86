"""The id of a request, in its response and in the log lines about it.

A client may choose it (`X-Request-Id`). An id that is too long or has other characters is ignored,
since ids are written to logs. Without one the service makes its own; the match routes only for
errors, since `secrets` alone would cost a tenth of a match.
"""

import re
from contextvars import ContextVar
from secrets import token_hex

from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADER = b"x-request-id"
ALPHABET = rb"[A-Za-z0-9._:/+=-]{1,128}"
"""The characters and length of an id."""

_SANE = re.compile(ALPHABET)

current: ContextVar[str] = ContextVar("request_id", default="")
"""The id of the request that this task answers; empty outside of requests."""


def take(sent: bytes | None) -> str:
    """The id in a header, or an empty string if it is not a valid one."""
    return sent.decode("ascii") if sent and _SANE.fullmatch(sent) else ""


def make() -> str:
    """A new id."""
    return token_hex(8)


class RequestIds:
    """Gives every request an id, and adds it to the response. Pure ASGI. The match routes, which
    come before it, do the same themselves."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        sent = [value for name, value in scope["headers"] if name == HEADER]
        id = (take(sent[0]) if len(sent) == 1 else "") or make()
        current.set(id)  # each request runs in its own task, and so in its own context

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), (HEADER, id.encode())]
            await send(message)

        await self.app(scope, receive, send_with_id)
