"""The answer of an index to a query."""

from dataclasses import dataclass, field
from typing import Protocol

from index.score import bid_of, priority_of


class Matches(Protocol):
    """The matches of an event; `_native.Matches`, or `PythonMatches` below."""

    @property
    def ids(self) -> list[int]:
        """The ids: ascending, or best first if the query had a limit."""

    @property
    def scores(self) -> list[int] | None:
        """The score of each id; None if the query had no limit."""

    @property
    def total(self) -> int | None:
        """The number of all matches; None unless the query asked for it."""

    @property
    def pending(self) -> list[int]:
        """The ids that match only if calls of operators say so: of `ids`, or of all matches if the
        query asked for the total."""

    def __len__(self) -> int:
        """The number of ids."""

    def to_json(self, tail: bytes) -> bytes:
        """The matches as JSON, and the total if the query asked for it:

            {"matches":[{"campaign_id":7,"priority":5,"bid_micros":1200000}],"total":1

        followed by the `tail`, which has the other members of the object and its closing brace.
        `ValueError` if the query had no limit.
        """


@dataclass(frozen=True, slots=True)
class PythonMatches:
    """The matches that an engine in Python found; `answer.rs` writes the same JSON in Rust."""

    ids: list[int]
    scores: list[int] | None
    """The score of each id, if the query had a limit."""
    total: int | None
    pending: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.ids)

    def to_json(self, tail: bytes) -> bytes:
        if self.scores is None:
            raise ValueError("only a query with a limit has an answer in JSON")
        matches = ",".join(
            f'{{"campaign_id":{id},"priority":{priority_of(score)},"bid_micros":{bid_of(score)}}}'
            for id, score in zip(self.ids, self.scores, strict=True)
        )
        total = "" if self.total is None else f',"total":{self.total}'
        return f'{{"matches":[{matches}]{total}'.encode() + tail
