"""The messages that a replica gets, and the actions that it asks for.

    Entries, Failed              ◀── ReadStream      the fast lane
    LogRead, Failed              ◀── ReadLog         the log, with the head
    Loaded, Failed               ◀── Load            everything, loaded aside
    Tick                         ◀── the clock
    Unfollowable                 ◀── Apply           an applied change needs a fresh view
                                     Swap, Adopt, Report: done, without a reply

A nonce is 16 hex digits, or empty where it is unknown: at rev 0, or when the row is pruned.
"""

from dataclasses import dataclass

from campaigns.log.changes import Change

STREAM, LOG, LOAD = "stream", "log", "snapshot"
"""The lanes: where changes come from. `/v1/index` names those that fail."""


@dataclass(frozen=True, slots=True)
class Link:
    """A change, and the nonce of the change before it."""

    previous: str
    change: Change


@dataclass(frozen=True, slots=True)
class LogHead:
    """The end of the log, and the nonce of the change at the rev of the query."""

    epoch: str
    rev: int
    pruned_rev: int
    nonce: str


# --- actions ---


@dataclass(frozen=True, slots=True)
class ReadLog:
    """Read the head, the nonce at `after`, and the changes after it, all in one statement."""

    after: int
    nonce: str


@dataclass(frozen=True, slots=True)
class ReadStream:
    """Wait for entries after a rev in the stream of an epoch; it replaces an earlier wait."""

    epoch: str
    after: int


@dataclass(frozen=True, slots=True)
class Load:
    """Load everything aside, while the current view goes on serving."""

    reason: str


@dataclass(frozen=True, slots=True)
class Swap:
    """Serve from the view that was loaded last."""


@dataclass(frozen=True, slots=True)
class Apply:
    """Apply these changes, in order; they directly follow the applied ones."""

    changes: tuple[Change, ...]
    lane: str


@dataclass(frozen=True, slots=True)
class Adopt:
    """The same history continues under another epoch; nothing else changes."""

    epoch: str


@dataclass(frozen=True, slots=True)
class Report:
    """Count a `resync` from the log, or a full `load`, and its reason."""

    what: str
    reason: str


Action = ReadLog | ReadStream | Load | Swap | Apply | Adopt | Report


# --- messages ---


@dataclass(frozen=True, slots=True)
class Entries:
    """Entries of the stream of an epoch, in order; none, after a timeout."""

    epoch: str
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Failed:
    """The stream or the log could not be read, or a load failed. `jitter`, around 1, spreads the
    retries of many replicas."""

    lane: str
    jitter: float = 1.0


@dataclass(frozen=True, slots=True)
class LogRead:
    """The reply to `asked`: one version of the head and of the first changes after a rev."""

    asked: ReadLog
    head: LogHead
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Loaded:
    """A view of this position of the log is ready."""

    epoch: str
    rev: int
    nonce: str


@dataclass(frozen=True, slots=True)
class Unfollowable:
    """An index cannot apply a change in place: it needs a fresh view."""

    reason: str


@dataclass(frozen=True, slots=True)
class Tick:
    """Time has passed."""


Message = Entries | LogRead | Loaded | Failed | Unfollowable | Tick
