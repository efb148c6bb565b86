"""A batch of rows of the log, judged: which are good, what they weigh, what is wrong with the rest.

A reader makes `Rows` from a batch: `lines.py` from lines of JSON, `typed.py` from typed columns.
What both have in common is judged here: time, id, sample rate.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from spark.transforms.arrow import Batches
from spark.transforms.counts import Counts
from spark.weights import UNIT

NOT_JSON, WRONG_TYPE, NULL_ELEMENT, NOT_FINITE = (
    "not_json",
    "wrong_type",
    "null_element",
    "not_finite",
)
_DAY_SECONDS = 86400
_LEAST_RATE = 1e-9

Request = tuple[dict[str, Any], dict[str, Any]]
"""The attributes and the built-in attributes of a request, as the log has them."""


class Content(Protocol):
    """What the rows of a batch say about attributes; `places` are those of good rows."""

    def count(self, counts: Counts, places: Sequence[int], weight: int) -> None:
        """Count the values of rows that weigh the same."""

    def by_row(self) -> "Content":
        """The same, in the form that is faster for a few rows."""

    def chosen(self, places: Sequence[int]) -> "Content":
        """These rows, without keeping the others in memory."""

    def requests(self) -> list[Request]:
        """The rows as requests."""

    def record(self, place: int) -> str:
        """The text of a malformed row."""

    def structs(self, places: Sequence[int]) -> tuple[pa.Array, pa.Array]:
        """The columns `attributes` and `builtins`."""


class Reader(Protocol):
    """Reads a log. Spark sends it to its workers."""

    def rows(self, batches: Batches) -> Iterator["Rows"]:
        """The rows of the batches that a task gets."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a batch. `weights` are those of the good rows; the others weigh nothing."""

    days: Sequence[str]
    times: npt.NDArray[np.float64]
    ids: Sequence[str | None]
    rates: npt.NDArray[np.float64]
    problems: Sequence[str | None]
    weights: npt.NDArray[np.int64]
    good: Sequence[int]
    content: Content

    def chosen(self, places: Sequence[int]) -> "Rows":
        """The rows at these places."""
        if len(places) == len(self.problems):
            return self
        return Rows(
            [self.days[place] for place in places],
            self.times[places],
            [self.ids[place] for place in places],
            self.rates[places],
            [self.problems[place] for place in places],
            self.weights[places],
            [number for number, place in enumerate(places) if self.problems[place] is None],
            self.content.chosen(places),
        )


def checked_rows(
    days: Sequence[str],
    times: npt.NDArray[np.float64],
    ids: Sequence[str | None],
    rates: npt.NDArray[np.float64],
    present: Sequence[bool],
    problems: list[str | None],
    content: Content,
) -> Rows:
    """The rows, judged. `times` and `rates` are NaN where they are missing, `present` says where
    attributes are, and `problems` has what the reader found. A row gets the first that holds."""
    rated = (rates >= _LEAST_RATE) & (rates <= 1)
    for problem, wrong in (
        ("no_time", np.isnan(times)),
        ("no_request_id", ~np.fromiter(map(bool, ids), bool, len(ids))),
        ("no_attributes", ~np.array(present, bool)),
        ("sample_rate", ~rated),
        ("other_day", ~_within(times, days)),
    ):
        for place in np.flatnonzero(wrong):
            problems[place] = problems[place] or problem
    good = [place for place, problem in enumerate(problems) if problem is None]
    weights = np.floor(UNIT / np.where(rated, rates, 1.0) + 0.5).astype(np.int64)
    return Rows(days, times, ids, rates, problems, weights, good, content)


def _within(times: npt.NDArray[np.float64], days: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Whether each time is on its day."""
    starts = {day: datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() for day in set(days)}
    start = np.fromiter(map(starts.__getitem__, days), np.float64, len(days))
    within: npt.NDArray[np.bool_] = (times >= start) & (times < start + _DAY_SECONDS)
    return within & (times >= 0)
