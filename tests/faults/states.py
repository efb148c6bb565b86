"""The states of the database, one per rev, rebuilt from its log.

    commits 1 … n  ──▶  State.step  ──▶  the campaigns that must match an event at a rev

This is the oracle. It uses no index: whether a targeting matches comes from `workload.truths`, the
rest is statuses, flights and the order by priority, bid and id.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from index import digest_of
from tests.faults.history import Commit

Row = tuple[int, int, int]
"""Campaign, priority, bid, as in an answer."""


@dataclass(frozen=True, slots=True)
class Moments:
    """The times, on the service's wall clock, at which a match may have been made."""

    ranges: tuple[tuple[float, float], ...]

    def within(self, start: float | None, end: float | None) -> bool | None:
        """Whether a flight is on; None if it starts or ends within the ranges."""
        found = set()
        for first, last in self.ranges:
            begins = {start is None or first >= start, start is None or last >= start}
            ends = {end is None or first < end, end is None or last < end}
            found |= {a and b for a in begins for b in ends}
        return found.pop() if len(found) == 1 else None


EVER = Moments(((float("-inf"), float("inf")),))


@dataclass(frozen=True, slots=True)
class Active:
    """An active campaign, with the fields that matching needs."""

    advertiser: str
    version: int
    text: str
    row: Row
    start: float | None
    end: float | None


@dataclass
class State:
    """What the database held at `rev`."""

    rev: int = 0
    active: dict[int, Active] = field(default_factory=dict)
    paused: set[str] = field(default_factory=set)
    """Advertisers that are paused."""

    campaigns: dict[str, dict[str, Any]] = field(default_factory=dict)
    advertisers: dict[str, str] = field(default_factory=dict)

    def step(self, commit: Commit) -> None:
        """Apply a commit."""
        self.rev = commit.rev
        if commit.kind == "campaign":
            self._campaign(commit.object_id, commit.after)
        elif commit.kind == "advertiser":
            self._advertiser(commit.object_id, commit.after)

    def _campaign(self, id: str, after: dict[str, Any] | None) -> None:
        self.active.pop(int(id), None)
        if after is None:
            self.campaigns.pop(id, None)
            return
        self.campaigns[id] = after
        if after["status"] == "active":
            row = (int(id), after["priority"], after["bid_micros"])
            window = _seconds(after["starts_at"]), _seconds(after["ends_at"])
            owner = str(after["advertiser_id"])
            self.active[int(id)] = Active(owner, after["version"], after["targeting"], row, *window)

    def _advertiser(self, id: str, after: dict[str, Any] | None) -> None:
        self.paused.discard(id)
        self.advertisers.pop(id, None)
        if after is not None:
            self.advertisers[id] = after["status"]
            if after["status"] != "active":
                self.paused.add(id)

    def copy(self) -> "State":
        """A copy of this state."""
        return State(
            self.rev,
            dict(self.active),
            set(self.paused),
            dict(self.campaigns),
            dict(self.advertisers),
        )

    def digest(self) -> str:
        """The digest of an index that holds this state."""
        pairs = [(id, each.version) for id, each in self.active.items()]
        return f"{digest_of(pairs):016x}"

    def answers(self, true: frozenset[str], at: Moments) -> tuple[list[Row], set[int]]:
        """The rows that must be in an answer (unordered), and the campaigns that may be."""
        must: list[Row] = []
        may: set[int] = set()
        for id, each in self.active.items():
            if each.text not in true or each.advertiser in self.paused:
                continue
            serves = at.within(each.start, each.end)
            if serves is None:
                may.add(id)
            elif serves:
                must.append(each.row)
        return must, may

    def allows(
        self, matches: list[Row], total: int | None, true: frozenset[str], at: Moments
    ) -> tuple[list[int], list[int]] | None:
        """None if the answer is correct in this state; else the unexpected and the missing ids. A
        row with wrong values counts as both."""
        must, may = self.answers(true, at)
        answered = {row[0] for row in matches}
        must += [self.active[id].row for id in may & answered]
        wanted = sorted(must, key=lambda row: (-row[1], -row[2], row[0]))
        if wanted == matches and total in (None, len(matches)):
            return None
        right = set(wanted)
        extra = sorted(row[0] for row in matches if row not in right)
        missing = sorted(row[0] for row in wanted if row not in set(matches))
        return extra, missing


def _seconds(moment: str | None) -> float | None:
    return None if moment is None else datetime.fromisoformat(moment).timestamp()
