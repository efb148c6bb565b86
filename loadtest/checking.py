"""Are the answers right? A sample of them, against an index in this process.

While managers write, they touch only campaigns of their own, whose ids are above those that were
there from the start. So of an answer the campaigns from the start must be the best ones of the
index, in its order, as far as the others leave room; where nobody writes, the answer must be
exactly the index's.
"""

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from index import Index
from testkit.database import truth
from testkit.service import NotServing, Server
from testkit.workloads.workload import Event

LIMIT = 10
_SETTLE_SECONDS = 60
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Answer:
    """What was sent for an event: the ids of its matches, best first, and how many there are. It
    was asked for and came at these moments."""

    place: int
    sent: float
    at: float
    ids: tuple[int, ...]
    total: int


@dataclass
class Checked:
    """How many answers were compared, and what the wrong ones were."""

    compared: int = 0
    wrong: list[str] = field(default_factory=list)

    def add(self, other: "Checked") -> None:
        self.compared += other.compared
        self.wrong += other.wrong

    @property
    def told(self) -> str:
        if not self.wrong:
            return f"{self.compared:,} answers compared, all right"
        shown = "; ".join(self.wrong[:_SHOWN])
        return f"{len(self.wrong):,} of {self.compared:,} answers are WRONG: {shown}"


def answers_in(paths: Iterable[Path]) -> list[Answer]:
    """The answers that Locust's processes kept."""
    found = []
    for path in paths:
        for line in path.read_text().splitlines():
            told = json.loads(line)
            found.append(
                answer_of(told["place"], told["sent"], told["at"], told["status"], told["answer"])
            )
    return found


def answer_of(place: int, sent: float, at: float, status: int, body: str) -> Answer:
    """From the body of an answer of `/v1/match` or, for its one imp, of `/v1/openrtb`."""
    told: dict[str, Any] = {"matches": [], "total": 0}
    if status != 204:
        told = json.loads(body)
        told = told["imps"][0] if "imps" in told else told
    ids = tuple(match["campaign_id"] for match in told["matches"])
    return Answer(place, sent, at, ids, told["total"])


def check(
    index: Index, events: Sequence[Event], answers: Iterable[Answer], from_start: int | None = None
) -> Checked:
    """Compare; with `from_start` only those campaigns count, and others may be among them."""
    checked = Checked()
    for answer in answers:
        checked.compared += 1
        event = events[answer.place]
        moments = (answer.at, answer.sent)  # a flight may begin or end in between
        if not any(_is_right(index, event, moment, answer, from_start) for moment in moments):
            ids, total = index.top(event, LIMIT, answer.at, total=True)
            checked.wrong.append(
                f"request {answer.place}: {list(answer.ids)} of {answer.total}, "
                f"not {ids} of {total}"
            )
    return checked


def _is_right(
    index: Index, event: Event, at: float, answer: Answer, from_start: int | None
) -> bool:
    ids, total = index.top(event, LIMIT, at, total=True)
    if from_start is None:
        return list(answer.ids) == ids and answer.total == total
    old = [id for id in answer.ids if id <= from_start]
    room = LIMIT - (len(answer.ids) - len(old))
    return old == ids[:room] and answer.total >= total


def settle(server: Server, token: str, database: str) -> str:
    """Wait until every worker holds what the database does; its digest, or `NotServing`."""
    deadline = time.monotonic() + _SETTLE_SECONDS
    wanted, found = "", []
    while time.monotonic() < deadline:
        rev, digest = truth(database)
        wanted = f"{digest:016x} at rev {rev}"
        workers = json.loads(server.get("/v1/index", token))["workers"]
        found = [f"{each['digest']} at rev {each['rev']}" for each in workers]
        if set(found) == {wanted}:
            return wanted
        time.sleep(0.2)
    raise NotServing(f"the workers do not hold what the database does: {found}, not {wanted}")
