"""Sessions: who has signed in, with which key. They live in this process, and nowhere else.

The browser has a random id in a cookie that scripts cannot read. The key never leaves the process
but to the API. A session ends after a time without a request, after twelve hours in any case, and
with the process.
"""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

COOKIE = "copse_console"
LONGEST_SECONDS = 12 * 3600
MOST = 10_000


@dataclass(slots=True)
class Session:
    """A person with a key; `csrf` is in every form that this session was given."""

    token: str = field(repr=False)
    name: str
    scopes: frozenset[str]
    csrf: str
    began_at: float
    seen_at: float
    notice: str = ""
    """A message for the next page."""

    def has_prefix(self, prefix: str) -> bool:
        """Whether its key is the one with this prefix."""
        return self.token.startswith(f"copse_{prefix}_")

    def may(self, scope: str) -> bool:
        """Whether the key has a scope."""
        return scope in self.scopes


class Sessions:
    """All sessions by id."""

    def __init__(self, minutes: float, now: Callable[[], float] = time.monotonic) -> None:
        self._idle = minutes * 60
        self._now = now
        self._known: dict[str, Session] = {}

    def begin(self, token: str, key: dict[str, Any]) -> tuple[str, Session]:
        """A new session for a key that the API knows; returns its id."""
        self._forget()
        while len(self._known) >= MOST:
            del self._known[min(self._known, key=lambda id: self._known[id].seen_at)]
        now = self._now()
        id = secrets.token_urlsafe(32)
        csrf = secrets.token_urlsafe(32)
        session = Session(token, key["name"], frozenset(key["scopes"]), csrf, now, now)
        self._known[id] = session
        return id, session

    def find(self, id: str | None) -> Session | None:
        """The session of a cookie, if it has not expired."""
        session = self._known.get(id or "")
        if session is None or not self._is_valid(session):
            self.end(id)
            return None
        session.seen_at = self._now()
        return session

    def end(self, id: str | None) -> None:
        """Forget a session and its key."""
        self._known.pop(id or "", None)

    def _is_valid(self, session: Session) -> bool:
        now = self._now()
        return now < session.seen_at + self._idle and now < session.began_at + LONGEST_SECONDS

    def _forget(self) -> None:
        for id in [id for id, session in self._known.items() if not self._is_valid(session)]:
            del self._known[id]
