"""The native core of the matching index: the Python interface of `index/native/`.

Trees are passed in their JSON form, as bytes. Structured results are returned as JSON.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import final

from index.language.schema import Schema
from index.query import Query

__all__ = ["BID_BITS", "Index", "Matches", "__version__", "digest_of", "fold"]

__version__: str

BID_BITS: int
"""The number of lower bits of a score that are the bid."""

def digest_of(pairs: Iterable[tuple[int, int]]) -> int:
    """The digest of an index that holds these pairs of an id and a version."""

def fold(text: str) -> str:
    """A text without upper and lower case, as `ignoring case` compares it."""

@final
class Matches:
    """The matches of an event; `index.Matches` is the interface."""

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
        """The ids that depend on calls: of `ids`, or of all if the query asked for a total."""

    def __len__(self) -> int:
        """The number of ids."""

    def to_json(self, tail: bytes) -> bytes:
        """The matches as JSON, followed by the tail; `ValueError` if the query had no limit."""

@final
class Index:
    """An index of expressions in JSON form, for any number of threads.

    One thread writes at a time. Matching goes on meanwhile, each match on one version of the
    index.
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
        labels: Sequence[str] | None = None,
    ) -> None:
        """Insert or replace an expression; `TreeError` if it is not a checked tree."""

    def insert_many(
        self, rows: list[tuple[object, ...]], progress: Callable[[int, int], None] | None = None
    ) -> None:
        """Insert rows of the arguments of `insert`: all, or none if one is invalid; `RowError`."""

    def remove(self, id: int) -> bool:
        """Remove an expression. Returns whether it was there."""

    def mute(self, group: int) -> bool:
        """Keep the ids of a group from matching until it is unmuted. Returns whether that is
        new."""

    def unmute(self, group: int) -> bool:
        """Let the ids of a group match again. Returns whether the group was muted."""

    def muted(self) -> list[int]:
        """The muted groups, ascending."""

    def digest(self) -> int:
        """The digest of all ids and their versions."""

    def add_attribute(self, name: str, kind: str, schema: Schema) -> None:
        """Declare one more attribute; `schema` includes it."""

    def ask(self, event: Mapping[str, object] | bytes, query: Query | None = None) -> Matches:
        """The matches of an event, its attributes or their JSON, that a query asks for, or all;
        `EventError`."""

    def time_matches(
        self, events: list[bytes], limit: int | None = None
    ) -> tuple[list[int], list[int], list[int]]:
        """For each event, given as JSON: CPU nanoseconds of the match, number of matches,
        postings read; with a limit, of the best matches only, without their total."""

    def tree(self, id: int) -> str | None:
        """The JSON form of an expression's tree as written; None if the index does not keep it."""

    def origin(self, id: int) -> tuple[int, int]:
        """The group and the version of an id; zeros if it is unknown."""

    def labels(self, id: int) -> list[str]:
        """The labels of an id, in order; none if the id is unknown."""

    def normal_form(self, tree: bytes) -> str:
        """The normal form of a tree in JSON form, as JSON."""

    def plan(self, id: int) -> str:
        """How the index looks for an expression, as JSON."""

    def stats(self) -> str:
        """Sizes and counts, as JSON."""

    def usage(self) -> str:
        """The cheap part of `stats`, which reads no expression, as JSON."""

    def to_dot(self, limit: int) -> str:
        """At most `limit` expressions as a Graphviz graph."""

    def use_statistics(self, statistics: bytes | None) -> None:
        """Plan everything again by these statistics (JSON), or without."""

    def tune(self, name: str, value: int) -> None:
        """Switch an optimisation off (0) or on, before the first expression.

        For benchmarks only: it changes no answer. The names are in
        `index/native/src/engine/planning/tuning.rs`; `ValueError` for any other name or value.
        """

    def replan(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Plan everything again by the events that the index has sampled. If the progress callback
        raises an error, the rest stays as it is."""

    def sampled(self) -> tuple[int, int, float]:
        """The number of sampled events, the number by which everything was planned last, and how
        far the sample has moved since, from 0 to 1."""

    def take_longest_update_ns(self) -> int:
        """The longest time in nanoseconds that an update blocked matching, since the last call."""

    def save(self, path: str | PathLike[str]) -> None:
        """Write the index to a file. Updates wait for that, matching does not."""

    def load(self, path: str | PathLike[str]) -> None:
        """Load a file that `save` of the same build wrote into this index, which must be empty;
        `ValueError` if it is damaged, not such a file, or of another build or schema. Load only
        files that you trust as much as the program: the checksum is not a signature."""

    def ids(self, multiples_of: int = 1) -> list[int]:
        """All ids that are multiples of a number, ascending."""

    def check_invariants(self) -> None:
        """Raise `AssertionError` if the index is inconsistent."""

    def __len__(self) -> int: ...
    def __contains__(self, id: int, /) -> bool: ...
