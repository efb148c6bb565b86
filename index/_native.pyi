"""The native core of the matching index: what `index/native/` gives to Python.

Trees come in their JSON form, as bytes. Answers with structure go out as JSON.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import final

from index.language.schema import Schema

__all__ = ["Index", "__version__", "digest_of"]

__version__: str

_Exclude = tuple[Sequence[int], Sequence[int]]
"""Ids and groups that an answer must not have."""

def digest_of(pairs: Iterable[tuple[int, int]]) -> int:
    """A digest of pairs of an id and a version, as an index that holds them has."""

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
        self,
        id: int,
        tree: bytes,
        score: int = 0,
        start: float | None = None,
        end: float | None = None,
        group: int = 0,
        version: int = 0,
    ) -> None:
        """Insert or replace an expression; `TreeError` if it is no checked tree."""

    def insert_many(
        self, rows: list[tuple[object, ...]], progress: Callable[[int, int], None] | None = None
    ) -> None:
        """Insert rows of what `insert` takes: all, or none if one is wrong, and `RowError`."""

    def remove(self, id: int) -> bool:
        """Remove an expression; whether it was there."""

    def mute(self, group: int) -> bool:
        """Keep the ids of a group from matching until it is unmuted; whether that is new."""

    def unmute(self, group: int) -> bool:
        """Let the ids of a group match again; whether they did not."""

    def muted(self) -> list[int]:
        """The muted groups, ascending."""

    def digest(self) -> int:
        """A digest of all ids and their versions."""

    def add_attribute(self, name: str, kind: str, schema: Schema) -> None:
        """Declare one more attribute; `schema` is the one that has it."""

    def match(
        self,
        event: Mapping[str, object],
        at: float | None = None,
        exclude: _Exclude | None = None,
        floor: int = 0,
    ) -> list[int]:
        """The ids that an event matches, ascending."""

    def top(
        self,
        event: Mapping[str, object],
        limit: int,
        at: float | None = None,
        exclude: _Exclude | None = None,
        floor: int = 0,
    ) -> tuple[list[int], int]:
        """The best matches of an event, and how many there are in all."""

    def match_json(
        self,
        event: bytes,
        at: float | None = None,
        extra: dict[str, object] | None = None,
        exclude: _Exclude | None = None,
        floor: int = 0,
    ) -> list[int]:
        """The ids that an event matches, from the JSON of its attributes."""

    def top_json(
        self,
        event: bytes,
        limit: int,
        at: float | None = None,
        extra: dict[str, object] | None = None,
        exclude: _Exclude | None = None,
        floor: int = 0,
    ) -> tuple[list[int], int]:
        """The best matches of an event, from the JSON of its attributes."""

    def top_answer(
        self,
        event: Mapping[str, object] | bytes,
        limit: int,
        tail: bytes,
        at: float | None = None,
        builtins: dict[str, object] | None = None,
        exclude: _Exclude | None = None,
        floor: int = 0,
    ) -> bytes:
        """The best matches of an event, as the bytes of an answer, and the tail behind them."""

    def time_matches(self, events: list[bytes]) -> tuple[list[int], list[int], list[int]]:
        """Nanoseconds of this thread, matches and postings touched, of each event."""

    def tree(self, id: int) -> str | None:
        """The JSON form of an expression's tree as it was written; None if it is not kept."""

    def normal_form(self, tree: bytes) -> str:
        """The normal form of a tree in JSON form, as JSON."""

    def plan(self, id: int) -> str:
        """How the index will look for an expression, as JSON."""

    def stats(self) -> str:
        """What the index holds, as JSON."""

    def usage(self) -> str:
        """Of `stats`, what is known without looking at any expression, as JSON."""

    def pairs(self, limit: int) -> list[tuple[str, str, int]]:
        """The attributes of a key and of a guard that postings use together, with how many do,
        the most first."""

    def to_dot(self, limit: int) -> str:
        """A picture of some expressions, in the language of Graphviz."""

    def use_statistics(self, statistics: bytes | None) -> None:
        """Let statistics (JSON) steer, or none, and plan everything anew."""

    def tune(self, name: str, value: int) -> None:
        """Take a choice of the core away (0) or give it back, before the first expression.

        For benchmarks only: no answer depends on it. The choices are those of
        `index/native/src/engine/planning/tuning.rs`; `ValueError` for any other name or value.
        """

    def replan(self) -> None:
        """Plan everything anew with what the index has seen of events."""

    def take_longest_update_ns(self) -> int:
        """The longest that an update held matching up so far; and start anew."""

    def save(self, path: str | PathLike[str]) -> None:
        """Write the index to a file. Updates wait for that, matching does not."""

    def load(self, path: str | PathLike[str]) -> None:
        """Read into an empty index what `save` of the same build wrote; `ValueError` if it is not
        whole, not ours, of another build or of another schema. A snapshot is as trusted as the
        program: its checksum is no signature."""

    def ids(self) -> list[int]:
        """All ids, ascending."""

    def check_invariants(self) -> None:
        """Raise `AssertionError` if the index is not what it should be."""

    def __len__(self) -> int: ...
    def __contains__(self, id: int, /) -> bool: ...
