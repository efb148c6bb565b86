"""The history of a run as its clients saw it: records, one per line of a file.

Times are seconds since the start of the run, on the harness's clock.
"""

import json
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ACKNOWLEDGED, REFUSED, UNKNOWN = "acknowledged", "refused", "unknown"
"""What a client knows about its write: done, not done, or unknown because the answer was lost."""

ANSWERED, BEHIND, LOST = "answered", "behind", "lost"
"""Outcomes of a match, besides `REFUSED`."""


@dataclass(frozen=True, slots=True)
class Begin:
    """The start of the run: the state before it, and the wall clock."""

    epoch: str
    rev: int
    wall: float
    texts: list[str]
    events: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Write:
    """An attempt to write one object. Attempts with one `token` are repeats of one another."""

    token: str
    kind: str
    action: str
    object_id: int | None
    """None for a create."""

    version: int | None
    """The version that the writer had seen."""

    fields: dict[str, Any]
    begin: float
    end: float
    outcome: str
    status: int = 0
    rev: int | None = None
    new_version: int | None = None
    host: int = 0
    """The number of the host that it was sent to."""


@dataclass(frozen=True, slots=True)
class Match:
    """A match request (by its event's number) and its answer."""

    client: str
    connection: int
    event: int
    min_rev: int
    begin: float
    end: float
    outcome: str
    status: int = 0
    epoch: str = ""
    rev: int = 0
    matches: list[tuple[int, int, int]] = field(default_factory=list)
    """Campaign, priority, bid."""

    total: int | None = None
    message: str = ""
    """The reason, if there is no answer."""

    host: int = 0


@dataclass(frozen=True, slots=True)
class Look:
    """One reading of `/v1/index`: the state of each worker."""

    begin: float
    end: float
    workers: list[dict[str, Any]]
    silent: list[str]


@dataclass(frozen=True, slots=True)
class Tip:
    """The last rev in the stream of Redis, 0 if it is empty."""

    begin: float
    end: float
    rev: int


@dataclass(frozen=True, slots=True)
class Injected:
    """A fault and the time it was in effect."""

    kind: str
    begin: float
    end: float
    message: str = ""
    clock: float = 0.0
    """Offset of the service's clock during the fault, in seconds."""

    host: int | None = None
    """The host that it affects, None for both."""

    broken: str = ""
    """A promise that was broken during the fault: `kind: detail` of a violation."""


@dataclass(frozen=True, slots=True)
class Commit:
    """An entry of the database's log: the object after a rev, None if deleted."""

    rev: int
    kind: str
    object_id: str
    action: str
    after: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class End:
    """The database at the end, and whether every worker caught up with it."""

    epoch: str
    rev: int
    digest: str
    campaigns: dict[str, dict[str, Any]]
    advertisers: dict[str, str]
    kept: list[tuple[int, str, str]]
    """The changes that were not pruned: rev, kind, object."""

    in_step: bool
    message: str = ""


@dataclass(frozen=True, slots=True)
class Impression:
    """A row of the impression log; `whole` is false if it cannot be read."""

    event: int
    epoch: str
    rev: int
    matches: list[int]
    total: int | None
    whole: bool = True


Record = Begin | Write | Match | Look | Tip | Injected | Commit | End | Impression
_TYPES: dict[str, type[Record]] = {
    each.__name__: each
    for each in (Begin, Write, Match, Look, Tip, Injected, Commit, End, Impression)
}


class History:
    """A thread-safe list of records, and the clock of their times."""

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self.records: list[Record] = list(records)
        self._lock = threading.Lock()
        self._started = time.monotonic()

    def elapsed(self) -> float:
        return time.monotonic() - self._started

    def add(self, *records: Record) -> None:
        with self._lock:
            self.records.extend(records)

    def save(self, path: Path) -> None:
        with path.open("w") as file:
            for record in self.records:
                file.write(json.dumps([type(record).__name__, asdict(record)]) + "\n")

    @classmethod
    def load(cls, path: Path) -> "History":
        return cls(_read(path.read_text().splitlines()))


def _read(lines: Iterable[str]) -> Iterator[Record]:
    for line in lines:
        name, values = json.loads(line)
        if "matches" in values and name == "Match":
            values["matches"] = [tuple(each) for each in values["matches"]]
        yield _TYPES[name](**values)
