"""What stands behind `Index`: the Python engines with their entries, or the native core."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Protocol

from index.entry import Entry
from index.exclude import Exclude
from index.language.schema import Attribute, Schema
from index.language.tree import Tree

Progress = Callable[[int, int], None]
"""Told how many of how many are done."""

Attributes = Mapping[str, object]
Best = tuple[list[int], int]
"""The best ids, and how many match in all."""


class Backend(Protocol):
    """An index whose arguments have been checked, except for events and rows.

    What may be in an answer: what is open `at` a moment, is not in `exclude`, and has at least
    `floor` in the lower bits of its score.
    """

    name: str

    def put_many(self, items: Sequence[tuple[int, Entry]], progress: Progress | None) -> None:
        """Insert or replace all of these, which are valid."""

    def put_json(self, rows: list[tuple[object, ...]], progress: Progress | None) -> None:
        """Insert or replace all of these rows, or none; `RowError`."""

    def remove(self, id: int) -> bool:
        """Remove an id; whether it was there."""

    def mute(self, group: int) -> bool:
        """Keep the ids of a group from matching; whether that is new."""

    def unmute(self, group: int) -> bool:
        """Let the ids of a group match again; whether they did not."""

    def muted(self) -> set[int]:
        """The muted groups."""

    def add_attribute(self, attribute: Attribute, schema: Schema) -> None:
        """Declare an attribute that is new; the schema has it."""

    def match(
        self, event: Attributes, at: float | None, exclude: Exclude | None, floor: int
    ) -> list[int]:
        """The ids that match, ascending; `EventError`."""

    def top(
        self, event: Attributes, limit: int, at: float | None, exclude: Exclude | None, floor: int
    ) -> Best:
        """The best ids, and how many match; `EventError`."""

    def match_json(
        self,
        event: bytes,
        at: float | None,
        extra: dict[str, object] | None,
        exclude: Exclude | None,
        floor: int,
    ) -> list[int]:
        """`match`, from the JSON of an event, with `extra` added; `EventError`."""

    def top_json(
        self,
        event: bytes,
        limit: int,
        at: float | None,
        extra: dict[str, object] | None,
        exclude: Exclude | None,
        floor: int,
    ) -> Best:
        """`top`, from the JSON of an event, with `extra` added; `EventError`."""

    def top_answer(
        self,
        event: Attributes | bytes,
        limit: int,
        tail: bytes,
        at: float | None,
        builtins: dict[str, object] | None,
        exclude: Exclude | None,
        floor: int,
    ) -> bytes:
        """`top`, as the bytes of an answer; `EventError`."""

    def tree(self, id: int) -> Tree | None:
        """The tree of an id as it was written."""

    def digest(self) -> int:
        """A digest of all ids and their versions."""

    def plan(self, id: int) -> dict[str, object]:
        """How an id that is there will be looked for."""

    def stats(self) -> dict[str, object]:
        """What it holds."""

    def usage(self) -> dict[str, Any]:
        """Of `stats`, `unknown_attributes` and, if it knows them, `bytes`: at little cost."""

    def pairs(self, limit: int) -> list[tuple[str, str, int]]:
        """The attributes that it uses together, with how often, the most first."""

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
