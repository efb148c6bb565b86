"""The id that a request goes by, in its answer and in what is logged of it.

A client may choose it (`X-Request-Id`); one that is long or strange is not taken, since it is
written into logs. Where nobody chose one it is made, on the match routes only when there is
something to say: `secrets` alone would cost as much as a tenth of a match.
"""

import re
from contextvars import ContextVar
from secrets import token_hex

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
