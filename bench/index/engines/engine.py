"""The interface of an engine under measurement.

An engine times itself, so that the overhead of a Python call is not counted. All engines write the
ids in ascending order to a reused buffer.
"""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from index.language import Schema
from testkit.workloads.workload import Event

Item = tuple[int, str]
"""An id and a JSON tree."""


class Unavailable(Exception):
    """The engine cannot be used here or for these expressions; the message says why."""


class Engine(Protocol):
    """An index, from its JSON trees to its answers."""

    cap: int | None
    """Most expressions that it is given."""

    def build(self, items: Sequence[Item]) -> None:
        """Add many expressions in the fastest way. It is called repeatedly."""

    def insert(self, item: Item) -> None:
        """Add one."""

    def match_ns(self, events: Sequence[Event]) -> list[int]:
        """Nanoseconds of matching for each event."""

    def answers(self, events: Sequence[Event]) -> list[list[int]]:
        """The ids that match each event, ascending."""

    def bytes_(self) -> int | None:
        """Bytes that matching and updating need, if known."""


@runtime_checkable
class Ranking(Protocol):
    """An engine that finds the best matches without finding all."""

    def top_ns(self, events: Sequence[Event]) -> list[int]:
        """Nanoseconds for the best ten matches of each event."""


@runtime_checkable
class Maintained(Protocol):
    """An engine that has something to do after a build, which counts as part of it."""

    def maintain(self) -> None:
        """Do it."""


def as_pairs(schema: Schema) -> list[tuple[str, str]]:
    """The attributes as pairs of name and type name."""
    return [(attribute.name, str(attribute.type)) for attribute in schema]
