"""`Query`: which matches of an event to return, and in which order."""

from collections.abc import Sequence
from dataclasses import dataclass

from index.entry import check_group, check_id, check_labels, is_moment
from index.language.types import INT_MAX
from index.score import MAX_BID_MICROS


@dataclass(frozen=True, slots=True)
class Exclude:
    """Ids, groups with all their ids, and labels with all that have them or one below, that must
    not be in the answer. Unknown ones have no effect, nor has group 0, which means no group. Some
    thousands of each are fine.

    With `within`, also entries without labels, and those with a label that is neither there nor
    below one that is.
    """

    ids: Sequence[int] = ()
    groups: Sequence[int] = ()
    labels: Sequence[str] = ()
    within: Sequence[str] | None = None

    def __post_init__(self) -> None:
        if not _all_natural(self.ids):
            object.__setattr__(self, "ids", tuple(map(check_id, self.ids)))
        if not _all_natural(self.groups):
            object.__setattr__(self, "groups", tuple(map(check_group, self.groups)))
        check_labels(self.labels)
        if self.within is not None:
            check_labels(self.within)


@dataclass(slots=True)
class Query:
    """Without a `limit`, all matches, by ascending id. With one, the best: by descending score,
    the lower id first among equal scores.

    `at` (epoch seconds) keeps only entries whose window contains that moment, `floor` only those
    whose bid, the lower bits of the score, is at least that. `total` asks for the number of all
    matches. `builtins` are attributes added to the event, which must not have them itself:
    otherwise `EventError` with the code `event.builtin`.

    Treat it as immutable: it is not frozen because that would cost 0.6 µs a request.
    """

    at: float | None = None
    limit: int | None = None
    total: bool = False
    exclude: Exclude | None = None
    floor: int = 0
    builtins: dict[str, object] | None = None

    def __post_init__(self) -> None:
        at, limit, floor = self.at, self.limit, self.floor
        if at is not None and not is_moment(at):
            raise ValueError(f"at is a number of epoch seconds, not {at!r}")
        if limit is not None and not 0 <= limit <= INT_MAX:
            self.limit = check_limit(limit)
        if type(floor) is not int or not 0 <= floor <= MAX_BID_MICROS:
            raise ValueError(f"a floor is an integer from 0 to 2**53 - 1, not {floor!r}")


def check_limit(limit: int) -> int:
    """A limit that a query can have, or `ValueError`."""
    if limit < 0:
        raise ValueError(f"the limit must not be negative, got {limit}")
    return min(limit, INT_MAX)  # no index has as many entries


def _all_natural(numbers: Sequence[int]) -> bool:
    """Whether these are all plain integers from 0 to 2**63 - 1, at the speed of C."""
    return not numbers or (
        isinstance(numbers, list | tuple)
        and set(map(type, numbers)) == {int}
        and min(numbers) >= 0
        and max(numbers) <= INT_MAX
    )
