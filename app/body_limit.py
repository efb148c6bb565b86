"""Refuses request bodies that are too large, before they are in memory. Pure ASGI."""

from collections.abc import Collection

from fastapi import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY_BYTES = 256 * 1024


def too_large(max_bytes: int = MAX_BODY_BYTES) -> HTTPException:
    """Of the errors in reading a body the framework lets only its own through."""
    return HTTPException(413, f"The body is larger than {max_bytes} bytes.")


class BodyLimit:
    """Wraps `receive`, so that only a route that reads its body pays, and its errors map as usual.

    A body that declares its length is refused unread; a chunked one as soon as it is too long. The
    paths in `unlimited` read theirs piece by piece.
    """

    def __init__(
        self, app: ASGIApp, max_bytes: int = MAX_BODY_BYTES, unlimited: Collection[str] = ()
    ) -> None:
        self.app = app
        self.max_bytes = max_bytes
        self.unlimited = frozenset(unlimited)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in self.unlimited:
            await self.app(scope, receive, send)
            return

        declared = _declared_length(scope)
        counted = 0

        async def limited() -> Message:
            nonlocal counted
            self._check(declared)
            message = await receive()
            counted += len(message.get("body", b""))
            self._check(counted)
            return message

        await self.app(scope, limited, send)

    def _check(self, size: int) -> None:
        if size > self.max_bytes:
            raise too_large(self.max_bytes)


def _declared_length(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0
