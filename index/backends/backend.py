"""The interface of a backend."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, NamedTuple, Protocol

from index.entry import Entry
from index.language.schema import Attribute, Schema
from index.language.tree import Tree
from index.matches import Matches
from index.query import Query

Progress = Callable[[int, int], None]
"""Progress callback: (done, total)."""

Attributes = Mapping[str, object] | bytes
"""An event as a client sent it: its attributes, or their JSON."""


class Sampled(NamedTuple):
    """How many events are in the sample, by how many everything was planned last (0: it was not),
    and how far the sample has moved since: the greatest difference between the distributions of an
    attribute's values, from 0 to 1."""

    events: int
    planned: int
    drift: float


class NotSupported(RuntimeError):
    """The engine in use cannot do this."""


class Backend(Protocol):
    """An index whose arguments have been checked, except for events and rows."""

    name: str

    def put_many(self, items: Sequence[tuple[int, Entry]], progress: Progress | None) -> None:
        """Insert or replace these valid entries."""

    def put_json(self, rows: list[tuple[object, ...]], progress: Progress | None) -> None:
        """Insert or replace all of these rows, or none; `RowError`."""

    def remove(self, id: int) -> bool:
        """Remove an id. Returns whether it was there."""

    def mute(self, group: int) -> bool:
        """Keep the ids of a group from matching. Returns whether that is new."""

    def unmute(self, group: int) -> bool:
        """Let the ids of a group match again. Returns whether the group was muted."""

    def muted(self) -> set[int]:
        """The muted groups."""

    def add_attribute(self, attribute: Attribute, schema: Schema) -> None:
        """Declare a new attribute; `schema` includes it."""

    def ask(self, event: Attributes, query: Query | None = None) -> Matches:
        """The matches of an event, and what calls could make one; `EventError`. Without a query,
        all matches."""

    def use_schema(self, schema: Schema) -> None:
        """Use a schema with the same attributes and other operators."""

    def tree(self, id: int) -> Tree | None:
        """The tree of an id as written."""

    def tree_json(self, id: int) -> str | None:
        """The same in its JSON form."""

    def origin(self, id: int) -> tuple[int, int]:
        """The group and the version of an id; zeros if it is unknown."""

    def labels(self, id: int) -> list[str]:
        """The labels of an id, in order, each once; none if the id is unknown."""

    def ids(self, multiples_of: int = 1) -> list[int]:
        """All ids that are multiples of a number, ascending."""

    def digest(self) -> int:
        """The digest of all ids and their versions."""

    def plan(self, id: int) -> dict[str, object]:
        """How the engine looks for an id, which is there."""

    def stats(self) -> dict[str, object]:
        """Sizes and counts."""

    def usage(self) -> dict[str, Any]:
        """The cheap part of `stats`: `unknown_attributes` and, if known, `bytes`."""

    def check_invariants(self) -> None:
        """Raise `AssertionError` if the index is inconsistent."""

    def use_statistics(self, statistics: bytes | None) -> None:
        """Plan by these statistics, or without; they never change an answer."""

    def replan(self, progress: Progress | None = None) -> None:
        """Plan by the sampled events; that never changes an answer."""

    def sampled(self) -> tuple[int, int, float]:
        """The fields of `Sampled`."""

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything to a file."""

    def load(self, path: str | PathLike[str]) -> None:
        """Load a file that `save` wrote into this index, which is empty."""

    def __len__(self) -> int: ...
    def __contains__(self, id: int) -> bool: ...
