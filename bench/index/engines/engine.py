"""What the harness asks of an engine.

The engine times itself, so that what Python adds around a call is not counted. All answer with
ids in ascending order, into a buffer of their own that is used again and again.
"""

from collections.abc import Sequence
from typing import Protocol

from index.language import Schema
from testkit.workloads.workload import Event

Item = tuple[int, str]
"""An id and a JSON tree."""


class Unavailable(Exception):
    """The engine cannot be used here, or not for these expressions; the message says why."""


class Engine(Protocol):
    """An index, from its JSON trees to its answers."""

    cap: int | None
    """The most expressions that it is asked to hold."""

    def build(self, items: Sequence[Item]) -> None:
        """Add many, the fast way. It is called again and again with more."""

    def insert(self, item: Item) -> None:
        """Add one."""

    def match_ns(self, events: Sequence[Event], rounds: int = 1) -> list[int]:
        """Nanoseconds of matching for each event, round after round."""

    def list_ns(self, events: Sequence[Event]) -> list[int] | None:
        """Nanoseconds that making a Python list of the ids takes on top, where that is apart."""

    def answers(self, events: Sequence[Event]) -> list[list[int]]:
        """The ids that match each event, ascending."""

    def bytes_(self) -> int | None:
        """Bytes that matching and updating need, if known."""


def as_pairs(schema: Schema) -> list[tuple[str, str]]:
    """The attributes as names and names of types."""
    return [(attribute.name, str(attribute.type)) for attribute in schema]
