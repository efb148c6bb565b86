"""An entry of the index: an expression with a score, a validity window, a group, a version, labels.

These are checked when an id is emitted and are never part of the expression: a window inside the
tree would keep equal expressions from being one node, and every `now` would satisfy nearly all of
them. The group is the owner of the expression, as a number that the caller chooses; 0 means no
group. The version is the caller's too; only the digest uses it. Labels are texts that a query can
exclude; they are paths, so that excluding `food` excludes `food/sweets` as well.
"""

import math
from collections.abc import Collection
from dataclasses import dataclass

from index.language.tree import Tree
from index.language.types import INT_MAX, INT_MIN


@dataclass(frozen=True, slots=True)
class Entry:
    """The window is `[start, end)`, in epoch seconds; without `start` or `end` it is open there."""

    tree: Tree
    score: int = 0
    start: float | None = None
    end: float | None = None
    group: int = 0
    version: int = 0
    labels: tuple[str, ...] | list[str] = ()

    def __post_init__(self) -> None:
        check_properties(self.score, self.start, self.end, self.group, self.version, self.labels)

    def is_open(self, at: float) -> bool:
        """Whether the window contains the moment."""
        return (self.start is None or self.start <= at) and (self.end is None or at < self.end)

    def has_label(self, labels: Collection[str]) -> bool:
        """Whether one of its labels is among these, or below one of them."""
        return any(is_within(label, labels) for label in self.labels)

    def is_within(self, labels: Collection[str]) -> bool:
        """Whether it has labels, all of which are among these or below one of them."""
        return bool(self.labels) and all(is_within(label, labels) for label in self.labels)


def is_within(label: str, labels: Collection[str]) -> bool:
    """Whether a label is among these, or below one of them: `food/sweets` is below `food`."""
    parts = label.split("/")
    return any("/".join(parts[:end]) in labels for end in range(1, len(parts) + 1))


def check_properties(
    score: object = 0,
    start: object = None,
    end: object = None,
    group: object = 0,
    version: object = 0,
    labels: object = (),
) -> None:
    """Raise `ValueError` unless an entry can have these."""
    if not _is_int(score) or not INT_MIN <= score <= INT_MAX:  # type: ignore[operator]
        raise ValueError(f"a score is a 64-bit integer, not {score!r}")
    for name, moment in (("start", start), ("end", end)):
        if moment is not None and not is_moment(moment):
            raise ValueError(f"{name} is a number of epoch seconds, not {moment!r}")
    if start is not None and end is not None and start >= end:  # type: ignore[operator]
        raise ValueError(f"the window is empty: end {end} is not after {start}")
    check_group(group)
    check_version(version)
    check_labels(labels)


def check_id(id: object) -> int:
    """An id that an entry can have, or `ValueError`."""
    return _check_natural("an id", id, 63)


def check_group(group: object) -> int:
    """A group that an entry can have, or `ValueError`."""
    return _check_natural("a group", group, 63)


def check_version(version: object) -> int:
    """A version that an entry can have, or `ValueError`."""
    return _check_natural("a version", version, 32)


def check_labels(labels: object) -> tuple[str, ...] | list[str]:
    """Labels that an entry can have or a query can name, or `ValueError`."""
    if not isinstance(labels, tuple | list):
        raise ValueError(f"labels are a list or a tuple of texts, not {labels!r}")
    for label in labels:
        if not isinstance(label, str) or not label or "\n" in label:
            raise ValueError(f"a label is a text without line breaks, not {label!r}")
        try:
            label.encode()
        except UnicodeEncodeError as error:
            raise ValueError(f"a label is a text in Unicode: {error}") from None
    return labels


def _check_natural(what: str, value: object, bits: int) -> int:
    if not _is_int(value) or not 0 <= value < 2**bits:  # type: ignore[operator]
        raise ValueError(f"{what} is an integer from 0 to 2**{bits} - 1, not {value!r}")
    return value  # type: ignore[return-value]


def is_moment(value: object) -> bool:
    """Whether a value can be a number of epoch seconds: a double holds it exactly."""
    if isinstance(value, float):
        return math.isfinite(value)
    return _is_int(value) and abs(value) <= 2**53  # type: ignore[arg-type]


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
