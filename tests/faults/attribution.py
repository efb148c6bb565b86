"""Attribution: which write attempt made each rev in the database's log.

An acknowledged write names its rev. Every other rev must come from a write whose answer was lost;
each such write appears at most once, exactly as it was sent.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate

from tests.faults.history import ACKNOWLEDGED, UNKNOWN, Begin, Commit, Write
from tests.faults.verdict import Violation

_STATUSES = {"activate": "active", "pause": "paused", "resume": "active", "archive": "archived"}


@dataclass
class Attribution:
    """The log, with the writer and the time of each rev."""

    violations: list[Violation] = field(default_factory=list)
    _acknowledged: list[tuple[float, int]] = field(default_factory=list)
    _begun: list[tuple[float, int]] = field(default_factory=list)

    def acknowledged_by(self, moment: float) -> int:
        """The newest rev that its writer had an acknowledgement for at `moment`."""
        return _newest(self._acknowledged, moment)

    def begun_by(self, moment: float) -> int:
        """The newest rev that its writer had sent at `moment`."""
        return _newest(self._begun, moment)


def attribute(begin: Begin, commits: list[Commit], writes: list[Write]) -> Attribution:
    """Find the writer of each commit of the run. Earlier commits are the harness's setup."""
    found = Attribution()
    _check_dense(commits, found)
    first_sent: dict[str, float] = {}
    for write in writes:
        first_sent[write.token] = min(write.begin, first_sent.get(write.token, write.begin))
    made = {write.rev: write for write in writes if write.outcome == ACKNOWLEDGED and write.rev}
    open_writes = _Open(writes)
    acknowledged, begun = [], []
    by_rev = {commit.rev: commit for commit in commits}
    for rev, write in sorted(made.items()):
        commit = by_rev.get(rev)
        if commit is None or not _is_made_by(commit, write):
            message = (
                f"{write.action} {write.token} was acknowledged as rev {rev}, which is {commit}"
            )
            found.violations.append(Violation("lost", write.end, message))
        acknowledged.append((write.end, rev))
    for commit in commits:
        if commit.rev <= begin.rev:
            continue
        maker = made.get(commit.rev) or open_writes.take(commit)
        if maker is None:
            message = (
                f"no write made rev {commit.rev}: {commit.action} {commit.kind} {commit.object_id}"
            )
            found.violations.append(Violation("unacknowledged", 0.0, message))
        else:
            begun.append((first_sent[maker.token], commit.rev))
    found.violations += _twice(begin, commits)
    found._acknowledged = _running(acknowledged)
    found._begun = _running(begun)
    return found


class _Open:
    """Writes whose answers were lost; each may match one commit."""

    def __init__(self, writes: list[Write]) -> None:
        acknowledged = {write.token for write in writes if write.outcome == ACKNOWLEDGED}
        self._left: dict[tuple[str, str], list[Write]] = defaultdict(list)
        for write in writes:
            # For a write that was retried until acknowledged, the acknowledged attempt counts.
            if write.outcome == UNKNOWN and write.token not in acknowledged:
                self._left[_place(write.kind, write.object_id)].append(write)

    def take(self, commit: Commit) -> Write | None:
        for id in (int(commit.object_id) if commit.object_id.isdigit() else None, None):
            waiting = self._left[_place(commit.kind, id)]
            for write in waiting:
                if _is_made_by(commit, write):
                    repeats = [each for each in waiting if each.token == write.token]
                    for each in repeats:
                        waiting.remove(each)
                    return write
        return None


def _place(kind: str, id: int | None) -> tuple[str, str]:
    return kind, "" if id is None else str(id)


def _is_made_by(commit: Commit, write: Write) -> bool:
    """Whether a commit is the result of this attempt."""
    if (commit.kind, commit.action) != (write.kind, write.action):
        return False
    if write.object_id is not None and str(write.object_id) != commit.object_id:
        return False
    after = commit.after
    if after is None:
        return write.action == "delete"
    if write.version is not None and after["version"] != write.version + 1:
        return False
    if write.new_version is not None and after["version"] != write.new_version:
        return False
    status = after.get("status")  # a key has none
    if status != _STATUSES.get(write.action, status):
        return False
    exact = ("name", "targeting", "priority", "bid_micros", "external_id", "advertiser_id")
    return all(after[name] == write.fields[name] for name in exact if name in write.fields)


def _check_dense(commits: list[Commit], found: Attribution) -> None:
    revs = [commit.rev for commit in commits]
    if revs != list(range(1, len(revs) + 1)):
        found.violations.append(Violation("lost", 0.0, "the log is not dense"))


def _twice(begin: Begin, commits: list[Commit]) -> Iterator[Violation]:
    """Names are unique, so a retried write must not take effect twice."""
    seen: dict[str, int] = {}
    for commit in commits:
        if commit.rev <= begin.rev or commit.after is None or commit.kind != "campaign":
            continue
        if commit.action in ("create", "import", "patch"):
            name = commit.after["name"]
            if name in seen:
                message = f"{name} was written as rev {seen[name]} and as rev {commit.rev}"
                yield Violation("unacknowledged", 0.0, message)
            seen[name] = commit.rev


def _running(pairs: list[tuple[float, int]]) -> list[tuple[float, int]]:
    """Sorted by time, each with the largest rev so far."""
    pairs = sorted(pairs)
    return list(
        zip((at for at, _ in pairs), accumulate((rev for _, rev in pairs), max), strict=True)
    )


def _newest(pairs: list[tuple[float, int]], moment: float) -> int:
    place = bisect_right(pairs, (moment, float("inf")))
    return pairs[place - 1][1] if place else 0
