"""How long a client may keep us waiting: to send a request, or to take its answer.

uvicorn has a bound only for the pause between two requests. Here each connection is looked at once
a second, so that a request itself pays nothing.
"""

from collections.abc import Iterable
from http import HTTPStatus

from app.server.protocol import NotingProtocol


class Patience:
    """So many seconds for a request to arrive, head and body, and as many for its answer to be
    taken. A route that reads a body of any length (see `NotingProtocol`) has as many for each
    pause."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._stuck: dict[NotingProtocol, float] = {}
        """Connections whose clients do not take what we have written, and since when."""

    def look(self, connections: Iterable[NotingProtocol], now: float) -> None:
        """Hang up where a client takes too long."""
        stuck: dict[NotingProtocol, float] = {}
        for connection in list(connections):
            if is_stuck(connection):
                stuck[connection] = since = self._stuck.get(connection, now)
                if now - since > self.seconds:
                    connection.transport.abort()
                continue
            waiting = waiting_since(connection)
            if waiting is not None and now - waiting > self.seconds:
                detail = f"The request did not arrive within {self.seconds:g} seconds."
                connection.refuse(HTTPStatus.REQUEST_TIMEOUT, detail)
        self._stuck = stuck


def is_stuck(connection: NotingProtocol) -> bool:
    """Whether a client does not take what is written; one of an import may send all of it first."""
    if connection.transport.is_closing():
        return True
    return connection.flow.write_paused and "heard" not in (connection.scope or ())


def waiting_since(connection: NotingProtocol) -> float | None:
    """Since when more of a request is waited for; None if it is not, or if uvicorn counts."""
    cycle, scope = connection.cycle, connection.scope
    if scope is None:
        # It may have been answered by the short way, which makes no scope.
        return connection.opened if connection.timeout_keep_alive_task is None else None
    came: float = scope["came"]
    if cycle is None or cycle.scope is not scope:
        return came
    if cycle.response_complete:
        return came if connection.timeout_keep_alive_task is None else None
    if cycle.more_body and not connection.pipeline:
        heard: float | None = scope.get("heard")
        return came if heard is None else heard
    return None
