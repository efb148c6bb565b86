"""What stands behind `Index`: the Python engines with their entries, or the native core."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Protocol

from index.entry import Entry
from index.language.tree import Tree

Progress = Callable[[int, int], None]
"""Told how many of how many are done."""


class Backend(Protocol):
    """An index whose arguments have been checked, except for events."""

    name: str

    def put_many(self, items: Sequence[tuple[int, Entry]], progress: Progress | None) -> None:
        """Insert or replace all of these, which are valid."""

    def remove(self, id: int) -> bool:
        """Remove an id; whether it was there."""

    def match(self, event: Mapping[str, object], at: float | None) -> list[int]:
        """The ids that match, ascending; `EventError`."""

    def top(
        self, event: Mapping[str, object], limit: int, at: float | None
    ) -> tuple[list[int], int]:
        """The best ids, and how many match; `EventError`."""

    def tree(self, id: int) -> Tree | None:
        """The tree of an id as it was written."""

    def plan(self, id: int) -> dict[str, object]:
        """How an id that is there will be looked for."""

    def stats(self) -> dict[str, object]:
        """What it holds."""

    def check_invariants(self) -> None:
        """Raise `AssertionError` if it is not what it should be."""

    def use_statistics(self, statistics: bytes | None) -> None:
        """Let statistics steer; they never change an answer."""

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything to a file."""

    def load(self, path: str | PathLike[str]) -> None:
        """Read into an empty index what `save` wrote."""

    def __len__(self) -> int: ...
    def __contains__(self, id: int) -> bool: ...
    def __iter__(self) -> Iterator[int]: ...
