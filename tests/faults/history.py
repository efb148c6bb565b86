"""What happened in a run, as its clients saw it: records, in a file with a line for each.

Times are seconds since the begin of the run, on the harness's own clock.
"""

import json
import threading
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ACKNOWLEDGED, REFUSED, UNKNOWN = "acknowledged", "refused", "unknown"
"""What a client knows of its write: done, not done, or its answer was lost (both may be)."""

ANSWERED, BEHIND, LOST = "answered", "behind", "lost"
"""What became of a match; it can be `REFUSED`, too."""


@dataclass(frozen=True, slots=True)
class Begin:
    """The run: what was there before it, and the wall clock at its begin."""

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
    """None where it is to be created."""

    version: int | None
    """The one that the writer had seen."""

    fields: dict[str, Any]
    begin: float
    end: float
    outcome: str
    status: int = 0
    rev: int | None = None
    new_version: int | None = None


@dataclass(frozen=True, slots=True)
class Match:
    """A question, by the number of its event, and its answer."""

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

    total: int = 0
    told: str = ""
    """Why there is no answer."""


@dataclass(frozen=True, slots=True)
class Look:
    """What `/v1/index` said of each worker."""

    begin: float
    end: float
    workers: list[dict[str, Any]]
    silent: list[str]


@dataclass(frozen=True, slots=True)
class Injected:
    """A fault, from when to when it was felt."""

    kind: str
    begin: float
    end: float
    told: str = ""
    clock: float = 0.0
    """Seconds by which the service's clock was off meanwhile."""


@dataclass(frozen=True, slots=True)
class Commit:
    """An entry of the database's own log: what stood there after a rev; None if removed."""

    rev: int
    kind: str
    object_id: str
    action: str
    after: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class End:
    """The database when all was over, and whether every worker came to be where it is."""

    epoch: str
    rev: int
    digest: str
    campaigns: dict[str, dict[str, Any]]
    advertisers: dict[str, str]
    kept: list[tuple[int, str, str]]
    """What is left of the log of changes: rev, kind, object."""

    in_step: bool
    told: str = ""


@dataclass(frozen=True, slots=True)
class Impression:
    """A row of the impression log; one that cannot be read has none of it."""

    event: int
    epoch: str
    rev: int
    matches: list[int]
    total: int
    whole: bool = True


Record = Begin | Write | Match | Look | Injected | Commit | End | Impression
_TYPES: dict[str, type[Record]] = {
    each.__name__: each for each in (Begin, Write, Match, Look, Injected, Commit, End, Impression)
}


class History:
    """Records, from any number of threads."""

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self.records: list[Record] = list(records)
        self._lock = threading.Lock()

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
