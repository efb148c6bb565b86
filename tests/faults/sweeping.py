"""Every answer, every look at an index and every impression against the state at its rev.

The states are gone through once, in order; at each, whatever claims to be of its rev is checked.
The promise is that everything up to its rev is in an answer: several changes that are applied at
once may be seen one after the other before the rev moves. So an answer may also be that of a later
state, up to the newest that there can have been when it came; how often is counted.
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
"""So many changes at once may be on their way into an index."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One worker, in one look."""

    look: Look
    worker: dict[str, Any]


class Sweep:
    """The states of a run, and what was seen of them."""

    def __init__(
        self,
        commits: list[Commit],
        end: End,
        truths: list[frozenset[str]],
        timeline: Timeline,
        verdict: Verdict,
    ) -> None:
        self._commits = commits
        self._end = end
        self._truths = truths
        self._timeline = timeline
        self._verdict = verdict

    def check(
        self, matches: list[Match], looks: list[Look], impressions: list[Impression]
    ) -> State:
        """Check them all; the last state."""
        state, at = State(), 0
        for rev, asked in sorted(
            self._asked(matches, looks, impressions), key=lambda pair: pair[0]
        ):
            while at < len(self._commits) and self._commits[at].rev <= rev:
                state.step(self._commits[at])
                at += 1
            match asked:
                case Match():
                    self._check_match(state, self._commits[at : at + _AHEAD], asked)
                case Impression():
                    self._check_impression(state, self._commits[at : at + _AHEAD], asked)
                case Seen():
                    self._check_index(state, self._commits[at : at + _AHEAD], asked)
        for commit in self._commits[at:]:
            state.step(commit)
        return state

    def _asked(
        self, matches: list[Match], looks: list[Look], impressions: list[Impression]
    ) -> Iterable[tuple[int, Match | Impression | Seen]]:
        for match in matches:
            if match.outcome == ANSWERED:
                yield match.rev, match
        for row in impressions:
            self._verdict.counts["impressions"] += 1
            if row.whole:
                yield row.rev, row
            else:
                self._verdict.add(Violation("impression", 0.0, "a row cannot be read"))
        for look in looks:
            for worker in look.workers:
                if worker["rev"] is not None:
                    yield worker["rev"], Seen(look, worker)

    def _check_match(self, state: State, later: list[Commit], match: Match) -> None:
        told = f"{match.client}, event {match.event}, rev {match.rev}"
        if match.rev < match.min_rev:
            self._verdict.add(Violation("min_rev", match.begin, f"{told}, not {match.min_rev}"))
        if not self._check_place(match.epoch, match.rev, match.begin, match.end, told):
            return
        true = self._truths[match.event]
        moments = self._timeline.moments(match.begin, match.end)

        def right(state: State) -> bool:
            return state.allows(match.matches, match.total, true, moments) is None

        if right(state):
            self._verdict.counts["answers at their rev"] += 1
        elif self._is_ahead(state, later, self._timeline.newest(match.end), right):
            self._verdict.counts["answers ahead of their rev"] += 1
        else:
            extra, missing = state.allows(match.matches, match.total, true, moments) or ([], [])
            detail = f"{told}: {extra} must not be there, {missing} are missing"
            self._verdict.add(Violation("wrong", match.begin, detail))

    def _check_impression(self, state: State, later: list[Commit], row: Impression) -> None:
        """It does not say when it was, so a flight may have been on or not."""

        def right(state: State) -> bool:
            rows: list[Row] = [state.active[id].row for id in row.matches if id in state.active]
            return state.allows(rows, row.total, self._truths[row.event], EVER) is None

        if not right(state) and not self._is_ahead(state, later, self._end.rev, right):
            told = f"event {row.event}, rev {row.rev}: {row.matches}"
            self._verdict.add(Violation("impression", 0.0, told))

    def _check_index(self, state: State, later: list[Commit], seen: Seen) -> None:
        look, worker = seen.look, seen.worker
        self._verdict.counts["indexes looked at"] += 1
        told = f"worker {worker['pid']}, rev {worker['rev']}"
        if worker["poisoned"]:
            self._verdict.add(Violation("poisoned", look.begin, f"{told}: {worker['poisoned']}"))
        if not self._check_place(worker["epoch"], worker["rev"], look.begin, look.end, told):
            return

        def right(state: State) -> bool:
            return bool(state.digest() == worker["digest"])

        newest = self._timeline.newest(look.end)
        if not right(state) and not self._is_ahead(state, later, newest, right):
            self._verdict.add(Violation("digest", look.begin, f"{told}: {worker['digest']}"))

    def _check_place(self, epoch: str, rev: int, begin: float, end: float, told: str) -> bool:
        """Whether there can be such a place; and whether it is new enough."""
        if epoch != self._end.epoch or rev > self._timeline.newest(end):
            self._verdict.add(Violation("future", begin, told))
            return False
        due = self._timeline.due(begin, end)
        if due is not None:
            self._verdict.counts["checked for staleness"] += 1
            if rev < due:
                detail = f"{told}, and {due} had been acknowledged"
                self._verdict.add(Violation("stale", begin, detail))
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
