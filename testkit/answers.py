"""Compares the service's answers with an index in this process.

During a load test campaign managers write only to their own campaigns, whose ids are above those
that existed at the start. So the initial campaigns in an answer must be the best ones of the index,
in order, as far as the managers' campaigns leave room. Without writes, the answer must equal the
index's answer exactly.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from index import Index
from testkit.service import NotServing
from testkit.workloads.workload import Event

LIMIT = 10
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to the event at `place`: the ids of the matches, best first, and their total
    if the request asked for it.
    `sent` and `at` are the times of the request and of the answer."""

    place: int
    sent: float
    at: float
    ids: tuple[int, ...]
    total: int | None


@dataclass
class Checked:
    """The number of compared answers, and a description of each wrong one."""

    compared: int = 0
    wrong: list[str] = field(default_factory=list)

    def add(self, other: "Checked") -> None:
        self.compared += other.compared
        self.wrong += other.wrong

    @property
    def summary(self) -> str:
        if not self.wrong:
            return f"{self.compared:,} answers compared, all right"
        shown = "; ".join(self.wrong[:_SHOWN])
        return f"{len(self.wrong):,} of {self.compared:,} answers are WRONG: {shown}"

    def count(self) -> int:
        """The number of compared answers; raises `NotServing` if one is wrong."""
        if self.wrong:
            raise NotServing(self.summary)
        return self.compared


def answers_in(paths: Iterable[Path]) -> list[Answer]:
    """The answers that the Locust processes sampled."""
    lines = (json.loads(line) for path in paths for line in path.read_text().splitlines())
    return [answer_of(**line) for line in lines]


def answer_of(place: int, sent: float, at: float, status: int, answer: str) -> Answer:
    """Read the body of an answer of `/v1/match` or, for its single imp, of `/v1/openrtb`."""
    content: dict[str, Any] = {"matches": []}
    if status != 204:
        content = json.loads(answer)
        content = content["imps"][0] if "imps" in content else content
    ids = tuple(match["campaign_id"] for match in content["matches"])
    return Answer(place, sent, at, ids, content.get("total"))


def check(
    index: Index, events: Sequence[Event], answers: Iterable[Answer], from_start: int | None = None
) -> Checked:
    """Compare all answers. With `from_start` only campaigns up to that id are compared, and others
    may appear among them."""
    checked = Checked()
    for answer in answers:
        checked.compared += 1
        event = events[answer.place]
        moments = (answer.at, answer.sent)  # a flight may start or end in between
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
        return list(answer.ids) == ids and answer.total in (None, total)
    old = [id for id in answer.ids if id <= from_start]
    room = LIMIT - (len(answer.ids) - len(old))
    return old == ids[:room] and (answer.total is None or answer.total >= total)
