"""What a question wants left out of its answer, beside what the event does not match."""

from collections.abc import Sequence
from dataclasses import dataclass

from index.entry import check_group, check_id
from index.language.types import INT_MAX


@dataclass(frozen=True, slots=True)
class Exclude:
    """Ids, and groups with all their ids. What is not in the index excludes nothing, and
    neither does group 0, which means none. Some thousands of each are fine."""

    ids: Sequence[int] = ()
    groups: Sequence[int] = ()

    def __post_init__(self) -> None:
        if not _all_natural(self.ids):
            object.__setattr__(self, "ids", tuple(map(check_id, self.ids)))
        if not _all_natural(self.groups):
            object.__setattr__(self, "groups", tuple(map(check_group, self.groups)))


def _all_natural(numbers: Sequence[int]) -> bool:
    """Whether these are all plain integers from 0 to 2**63 - 1, at the speed of C."""
    return not numbers or (
        isinstance(numbers, list | tuple)
        and set(map(type, numbers)) == {int}
        and min(numbers) >= 0
        and max(numbers) <= INT_MAX
    )
