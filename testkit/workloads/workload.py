"""What a workload is: a schema, an endless stream of expressions, and events.

The stream depends on the parameters alone and not on how much of it is used, so the first
10,000 expressions of a million are the 10,000. Expressions are the JSON form of their trees, put
together as text: going through trees would take ten times as long.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from index.language import Schema

Event = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Workload:
    """The base of all workloads; a subclass adds its parameters as fields."""

    seed: int = 1

    @property
    def schema(self) -> Schema:
        """The attributes that expressions and events use."""
        raise NotImplementedError

    def expressions(self) -> Iterator[str]:
        """JSON trees, for ever; the id of an expression is its place."""
        raise NotImplementedError

    def events(self, count: int) -> list[Event]:
        """The first events."""
        raise NotImplementedError

    def key(self) -> dict[str, object]:
        """What the stream depends on."""
        return {"workload": type(self).__name__.lower(), **asdict(self)}
