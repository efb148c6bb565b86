"""The interface of a workload: a schema, an endless stream of expressions, and events.

The stream depends only on the parameters, not on how much of it is read, so a run with 10,000
expressions uses the first 10,000 of a run with a million. Expressions are the JSON form of their
trees, generated as text: building trees would take ten times as long.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

from index.language import Schema, from_json

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
        """JSON trees, without end; the id of an expression is its position."""
        raise NotImplementedError

    def texts(self, count: int) -> list[str]:
        """The first expressions, as people write them."""
        schema = self.schema
        return [str(from_json(tree, schema)) for tree in islice(self.expressions(), count)]

    def events(self, count: int) -> list[Event]:
        """The first `count` events."""
        raise NotImplementedError

    def key(self) -> dict[str, object]:
        """Everything that the stream depends on."""
        return {"workload": type(self).__name__.lower(), **asdict(self)}
