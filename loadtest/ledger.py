"""What each second brought: how many requests, how long they took, what went wrong.

A process of Locust writes its own ledger, a line a second; whoever reads them all adds them up.
Times are counted in buckets that grow by 2.2%, so a percentile is right to about one in a hundred,
however many requests there were, and the longest is kept as it was. (Locust's own statistics are
whole milliseconds, and a match takes less.)

    {"at": 1790000000, "kinds": {"match": {"buckets": {"312": 41, "313": 8}, "longest": 0.0123,
                                           "errors": {"503": 1}}}}
"""

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

PER_OCTAVE = 32
_MICRO = 1e-6


def bucket_of(seconds: float) -> int:
    """The bucket that a time falls into; all below a microsecond are one."""
    return int(PER_OCTAVE * math.log2(max(seconds / _MICRO, 1.0)))


def middle_of(bucket: int) -> float:
    """The seconds that a bucket stands for."""
    return _MICRO * float(2.0 ** ((bucket + 0.5) / PER_OCTAVE))


@dataclass(slots=True)
class Account:
    """Requests of one kind: their times by bucket, the longest, and those that went wrong."""

    buckets: Counter[int] = field(default_factory=Counter)
    longest: float = 0.0
    errors: Counter[str] = field(default_factory=Counter)

    @property
    def count(self) -> int:
        """All of them, those that went wrong included."""
        return self.buckets.total()

    @property
    def wrong(self) -> int:
        return self.errors.total()

    def add(self, other: "Account") -> None:
        self.buckets.update(other.buckets)
        self.errors.update(other.errors)
        self.longest = max(self.longest, other.longest)

    def percentile(self, share: float) -> float | None:
        """Seconds that this share of the requests stayed below; 1 is the longest."""
        total = self.count
        if not total:
            return None
        if share >= 1:
            return self.longest
        wanted, seen = share * total, 0
        for bucket in sorted(self.buckets):
            seen += self.buckets[bucket]
            if seen > wanted:
                return min(middle_of(bucket), self.longest)
        return self.longest

    def to_json(self) -> dict[str, Any]:
        return {"buckets": self.buckets, "longest": self.longest, "errors": self.errors}

    @classmethod
    def from_json(cls, told: dict[str, Any]) -> "Account":
        buckets = Counter({int(bucket): count for bucket, count in told["buckets"].items()})
        return cls(buckets, told["longest"], Counter(told["errors"]))


Kinds = dict[str, Account]


def total(accounts: Iterable[Account]) -> Account:
    """All of them in one."""
    found = Account()
    for each in accounts:
        found.add(each)
    return found


class Ledger:
    """The writing side: one process, seconds that are not over yet in memory."""

    def __init__(self) -> None:
        self._seconds: dict[int, Kinds] = {}

    def record(self, kind: str, at: float, seconds: float, error: str | None = None) -> None:
        """One request that ended at a moment (epoch seconds)."""
        account = self._seconds.setdefault(int(at), {}).setdefault(kind, Account())
        account.buckets[bucket_of(seconds)] += 1
        account.longest = max(account.longest, seconds)
        if error is not None:
            account.errors[error] += 1

    def write(self, file: TextIO, until: float) -> None:
        """Write down the seconds that were over by then."""
        for at in sorted(second for second in self._seconds if second < int(until)):
            kinds = {kind: each.to_json() for kind, each in self._seconds.pop(at).items()}
            file.write(json.dumps({"at": at, "kinds": kinds}) + "\n")
        file.flush()


def read(paths: Iterable[Path]) -> dict[int, Kinds]:
    """The ledgers of all processes, added up: what each second brought."""
    seconds: dict[int, Kinds] = {}
    for path in paths:
        for line in _lines(path):
            kinds = seconds.setdefault(line["at"], {})
            for kind, told in line["kinds"].items():
                kinds.setdefault(kind, Account()).add(Account.from_json(told))
    return seconds


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """The whole lines: the last may be in the middle of being written."""
    text = path.read_text()
    for line in text[: text.rfind("\n") + 1].splitlines():
        yield json.loads(line)
