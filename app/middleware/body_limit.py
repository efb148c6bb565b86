"""Refuses bodies that are too large or compressed, before they are in memory. Pure ASGI."""

from collections.abc import Collection

from fastapi import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.errors.handlers import respond
from app.errors.http_errors import Encoded
from campaigns.keys.model import MAX_BODY_BYTES


def too_large(max_bytes: int = MAX_BODY_BYTES) -> HTTPException:
    """An `HTTPException`: FastAPI passes no other error on while it reads a body."""
    return HTTPException(413, f"The body is larger than {max_bytes} bytes.")


class BodyLimit:
    """Wraps `receive`, so that only routes that read their body pay, and errors map as usual.

    A body that declares its length is refused unread, a chunked one as soon as it is too long. A
    key may have a lower limit. The routes in `unlimited` read their bodies piece by piece.
    """

    def __init__(
        self, app: ASGIApp, max_bytes: int = MAX_BODY_BYTES, unlimited: Collection[str] = ()
    ) -> None:
        self.app = app
        self.max_bytes = max_bytes
        self.unlimited = frozenset(unlimited)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        encoded = encoding_of(scope)
        if encoded is not None:
            await respond(encoded.problem(), encoded.headers)(scope, receive, send)
            return
        if scope["path"] in self.unlimited:
            await self.app(scope, receive, send)
            return

        caller = scope.get("caller")
        most = self.max_bytes if caller is None else min(self.max_bytes, caller.max_body)
        declared = _declared_length(scope)
        counted = 0

        async def limited() -> Message:
            nonlocal counted
            _check(declared, most)
            message = await receive()
            counted += len(message.get("body", b""))
            _check(counted, most)
            return message

        await self.app(scope, limited, send)


def _check(size: int, most: int) -> None:
    if size > most:
        raise too_large(most)


def encoding_of(scope: Scope) -> Encoded | None:
    """The error for a body that declares a compression; None if it does not."""
    for name, value in scope["headers"]:
        if name == b"content-encoding" and value.strip().lower() not in (b"", b"identity"):
            return Encoded(value.decode("latin-1"))
    return None


def _declared_length(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0
