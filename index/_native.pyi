"""The native core of the matching index: what `index/native/` gives to Python.

Trees come in their JSON form, as bytes. Answers with structure go out as JSON.
"""

from os import PathLike
from typing import final

from index.language.schema import Schema

__all__ = ["Index", "__version__"]

__version__: str

_Item = tuple[int, bytes, int, float | None, float | None]

@final
class Index:
    """An index of expressions in JSON form, for any number of threads.

    One thread writes at a time; matches go on, each on one version of the index.
    """

    def __new__(
        cls,
        schema: Schema,
        attributes: list[tuple[str, str]],
        predicates: int,
        depth: int,
        set_values: int,
        keep_trees: bool,
    ) -> Index: ...
    def insert(
        self, id: int, tree: bytes, score: int, start: float | None, end: float | None
    ) -> None:
        """Insert or replace an expression; `TreeError` if it is no checked tree."""

    def insert_many(self, items: list[_Item]) -> None:
        """Insert many: all, or none if one is no checked tree."""

    def remove(self, id: int) -> bool:
        """Remove an expression; whether it was there."""

    def add_attribute(self, name: str, kind: str) -> None:
        """Declare one more attribute."""

    def match(self, event: dict[str, object], at: float | None) -> list[int]:
        """The ids that an event matches, ascending."""

    def top(self, event: dict[str, object], limit: int, at: float | None) -> tuple[list[int], int]:
        """The best matches of an event, and how many there are in all."""

    def match_json(
        self, event: bytes, at: float | None, extra: dict[str, object] | None
    ) -> list[int]:
        """The ids that an event matches, from the JSON of its attributes."""

    def top_json(
        self, event: bytes, limit: int, at: float | None, extra: dict[str, object] | None
    ) -> tuple[list[int], int]:
        """The best matches of an event, from the JSON of its attributes."""

    def time_matches(self, events: list[bytes]) -> tuple[list[int], list[int], list[int]]:
        """Nanoseconds, matches and postings touched, of each event."""

    def tree(self, id: int) -> str | None:
        """The JSON form of an expression's tree as it was written; None if it is not kept."""

    def normal_form(self, tree: bytes) -> str:
        """The normal form of a tree in JSON form, as JSON."""

    def plan(self, id: int) -> str:
        """How the index will look for an expression, as JSON."""

    def stats(self) -> str:
        """What the index holds, as JSON."""

    def to_dot(self, limit: int) -> str:
        """A picture of some expressions, in the language of Graphviz."""

    def use_statistics(self, statistics: bytes | None) -> None:
        """Let statistics (JSON) steer, or none, and plan everything anew."""

    def limit_guards(self, guards: int) -> None:
        """Give postings fewer guards than two, to see what they bring."""

    def replan(self) -> None:
        """Plan everything anew with what the index has seen of events."""

    def take_longest_update_ns(self) -> int:
        """The longest that an update held matching up so far; and start anew."""

    def save(self, path: str | PathLike[str]) -> None:
        """Write the index to a file."""

    def load(self, path: str | PathLike[str]) -> None:
        """Read into an empty index what `save` wrote."""

    def ids(self) -> list[int]:
        """All ids, ascending."""

    def check_invariants(self) -> None:
        """Raise `AssertionError` if the index is not what it should be."""

    def __len__(self) -> int: ...
    def __contains__(self, id: int, /) -> bool: ...
