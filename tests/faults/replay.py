"""Compares every answer, index reading and impression with the database state at its rev.

The log is replayed once, in order; each observation is checked at its rev. The service promises
that an answer includes everything up to its rev. Changes applied in a batch may become visible
one by one before the rev moves, so an answer may also fit a later state, up to the newest one that
was possible when it arrived. The report counts these.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from tests.faults.history import ANSWERED, Commit, End, Impression, Look, Match
from tests.faults.states import EVER, Row, State
from tests.faults.timeline import Timeline
from tests.faults.verdict import Verdict, Violation

_AHEAD = 100
"""Largest number of changes that may be in flight into an index."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One worker in one reading of `/v1/index`."""

    look: Look
    worker: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Replay:
    """The states of a run, checked against the observations."""

    commits: list[Commit]
    end: End
    truths: list[frozenset[str]]
    timeline: Timeline
    verdict: Verdict

    def check(
        self, matches: list[Match], looks: list[Look], impressions: list[Impression]
    ) -> State:
        """Check everything; returns the last state."""
        state, at = State(), 0
        for rev, asked in sorted(
            self._asked(matches, looks, impressions), key=lambda pair: pair[0]
        ):
            while at < len(self.commits) and self.commits[at].rev <= rev:
                state.step(self.commits[at])
                at += 1
            match asked:
                case Match():
                    self._check_match(state, self.commits[at : at + _AHEAD], asked)
                case Impression():
                    self._check_impression(state, self.commits[at : at + _AHEAD], asked)
                case Seen():
                    self._check_index(state, self.commits[at : at + _AHEAD], asked)
        for commit in self.commits[at:]:
            state.step(commit)
        return state

    def _asked(
        self, matches: list[Match], looks: list[Look], impressions: list[Impression]
    ) -> Iterable[tuple[int, Match | Impression | Seen]]:
        for match in matches:
            if match.outcome == ANSWERED:
                yield match.rev, match
        for row in impressions:
            self.verdict.counts["impressions"] += 1
            if row.whole:
                yield row.rev, row
            else:
                self.verdict.add(Violation("impression", 0.0, "a row cannot be read"))
        for look in looks:
            for worker in look.workers:
                if worker["rev"] is not None:
                    yield worker["rev"], Seen(look, worker)

    def _check_match(self, state: State, later: list[Commit], match: Match) -> None:
        message = f"{match.client}, event {match.event}, rev {match.rev}"
        if match.rev < match.min_rev:
            self.verdict.add(Violation("min_rev", match.begin, f"{message}, not {match.min_rev}"))
        if not self._check_place(match.epoch, match.rev, match.begin, match.end, message):
            return
        true = self.truths[match.event]
        moments = self.timeline.moments(match.begin, match.end)

        def right(state: State) -> bool:
            return state.allows(match.matches, match.total, true, moments) is None

        if right(state):
            self.verdict.counts["answers at their rev"] += 1
        elif self._is_ahead(state, later, self.timeline.newest(match.end), right):
            self.verdict.counts["answers ahead of their rev"] += 1
        else:
            extra, missing = state.allows(match.matches, match.total, true, moments) or ([], [])
            detail = f"{message}: {extra} must not be there, {missing} are missing"
            self.verdict.add(Violation("wrong", match.begin, detail))

    def _check_impression(self, state: State, later: list[Commit], row: Impression) -> None:
        """An impression has no time, so campaigns with a flight may or may not match."""

        def right(state: State) -> bool:
            rows: list[Row] = [state.active[id].row for id in row.matches if id in state.active]
            return state.allows(rows, row.total, self.truths[row.event], EVER) is None

        if not right(state) and not self._is_ahead(state, later, self.end.rev, right):
            message = f"event {row.event}, rev {row.rev}: {row.matches}"
            self.verdict.add(Violation("impression", 0.0, message))

    def _check_index(self, state: State, later: list[Commit], seen: Seen) -> None:
        look, worker = seen.look, seen.worker
        self.verdict.counts["indexes looked at"] += 1
        message = f"worker {worker['pid']}, rev {worker['rev']}"
        if worker["poisoned"]:
            self.verdict.add(Violation("poisoned", look.begin, f"{message}: {worker['poisoned']}"))
        if not self._check_place(worker["epoch"], worker["rev"], look.begin, look.end, message):
            return

        def right(state: State) -> bool:
            return bool(state.digest() == worker["digest"])

        newest = self.timeline.newest(look.end)
        if not right(state) and not self._is_ahead(state, later, newest, right):
            self.verdict.add(Violation("digest", look.begin, f"{message}: {worker['digest']}"))

    def _check_place(self, epoch: str, rev: int, begin: float, end: float, message: str) -> bool:
        """Returns whether the epoch and rev are possible; also checks staleness."""
        if epoch != self.end.epoch or rev > self.timeline.newest(end):
            self.verdict.add(Violation("future", begin, message))
            return False
        due = self.timeline.due(begin, end)
        if due is not None:
            self.verdict.counts["checked for staleness"] += 1
            if rev < due:
                detail = f"{message}, and {due} had been acknowledged"
                self.verdict.add(Violation("stale", begin, detail))
        return True

    def _is_ahead(
        self, state: State, later: list[Commit], newest: int, right: Callable[[State], bool]
    ) -> bool:
        ahead = state.copy()
        for commit in takewhile(lambda commit: commit.rev <= newest, later):
            ahead.step(commit)
            if right(ahead):
                return True
        return False
