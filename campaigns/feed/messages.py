"""What a replica is told, and what it asks for in return.

    Entries, StreamFailed        ◀── ReadStream      the fast lane
    LogRead, LogFailed           ◀── ReadLog         the log, and the head with it
    Loaded, …Failed      ◀── Load    everything, loaded aside
    Tick                         ◀── the clock
    Unfollowable                 ◀── Apply           what was applied needs a fresh snapshot
                                     Swap, Adopt, Report: done, and not answered

A nonce is 16 hex digits, or empty where it is not known: at rev 0, or when the row is pruned.
"""

from dataclasses import dataclass

from campaigns.log.changes import Change


@dataclass(frozen=True, slots=True)
class Link:
    """A change, and the nonce of the change before it: what it was chained to when it was made."""

    previous: str
    change: Change


@dataclass(frozen=True, slots=True)
class LogHead:
    """The end of the log, and the nonce of the change at the rev that was asked about."""

    epoch: str
    rev: int
    pruned_rev: int
    nonce: str


# --- asked for ---


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
    """Load everything aside, while the present view goes on serving."""

    reason: str


@dataclass(frozen=True, slots=True)
class Swap:
    """Serve from the snapshot that was loaded last."""


@dataclass(frozen=True, slots=True)
class Apply:
    """Apply these, in order; they follow directly on what is applied."""

    changes: tuple[Change, ...]
    lane: str


@dataclass(frozen=True, slots=True)
class Adopt:
    """The history goes on under another epoch; nothing else changes."""

    epoch: str


@dataclass(frozen=True, slots=True)
class Report:
    """Count this: a `resync` by way of the log, or a `snapshot`, and why."""

    what: str
    reason: str


Action = ReadLog | ReadStream | Load | Swap | Apply | Adopt | Report


# --- told ---


@dataclass(frozen=True, slots=True)
class Entries:
    """What the stream of an epoch gave, in its order; nothing, after a silence."""

    epoch: str
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class StreamFailed:
    """Redis did not answer. `jitter`, around 1, spreads the retries of many replicas."""

    jitter: float = 1.0


@dataclass(frozen=True, slots=True)
class LogRead:
    """The answer to `asked`: one version of the head and of the first changes after a rev."""

    asked: ReadLog
    head: LogHead
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class LogFailed:
    """The database could not be asked."""

    jitter: float = 1.0


@dataclass(frozen=True, slots=True)
class Loaded:
    """A snapshot stands ready, of that moment of the log."""

    epoch: str
    rev: int
    nonce: str


@dataclass(frozen=True, slots=True)
class LoadFailed:
    """No snapshot could be loaded."""

    jitter: float = 1.0


@dataclass(frozen=True, slots=True)
class Unfollowable:
    """A change was taken that an index cannot follow in place; only a fresh one can."""

    reason: str


@dataclass(frozen=True, slots=True)
class Tick:
    """Time has passed."""


Message = Entries | StreamFailed | LogRead | LogFailed | Loaded | LoadFailed | Unfollowable | Tick
