"""How soon a session with Postgres ends when the other side vanishes.

A host that loses its network or its power says nothing: no packet ends its connections. Postgres
would keep its sessions, and with them the lock on the head and the relay's lease, for as long as
TCP hopes for an answer: hours. So both ends ask each other every second, and give a peer up that
has been silent for `SILENCE_SECONDS`. Then the sessions of a lost host end all at once, also those
that wait for a lock: a session that gets its lock cannot send its answer, and ends.

A host may also hang and still acknowledge packets. Then `IDLE_SECONDS` bounds how long a
transaction holds its locks between two statements.
"""

import socket
from typing import Any

SILENCE_SECONDS = 2
IDLE_SECONDS = 3

_PROBE_SECONDS = 1
_PROBES = 2

SETTINGS = {
    "tcp_user_timeout": str(SILENCE_SECONDS * 1000),
    "tcp_keepalives_idle": str(_PROBE_SECONDS),
    "tcp_keepalives_interval": str(_PROBE_SECONDS),
    "tcp_keepalives_count": str(_PROBES),
}
"""The server's end, for sessions that hold locks. Not for a load of everything: Linux would also
give up a peer that reads nothing for so long because it is busy. Unix sockets, and systems that
cannot do it, ignore these."""

WRITING = {**SETTINGS, "idle_in_transaction_session_timeout": str(IDLE_SECONDS * 1000)}
"""For sessions that write."""

_OPTIONS = {
    "TCP_USER_TIMEOUT": SILENCE_SECONDS * 1000,
    "TCP_KEEPIDLE": _PROBE_SECONDS,
    "TCP_KEEPINTVL": _PROBE_SECONDS,
    "TCP_KEEPCNT": _PROBES,
}


def probe(connection: Any) -> None:
    """Our own end of an asyncpg connection, where the system can."""
    # The driver has no public way to its socket.
    ours = connection._transport.get_extra_info("socket")
    if ours is None or ours.family not in (socket.AF_INET, socket.AF_INET6):
        return
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _OPTIONS.items():
        if option := getattr(socket, name, None):
            ours.setsockopt(socket.IPPROTO_TCP, option, value)
