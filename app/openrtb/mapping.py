"""From a request to attributes, by the table.

The table is compiled once, into a tree of the objects on its paths. Each object has the fields that
are read from it, and the objects inside:

    request
    ├── device     os → device.os, make → device.make, …
    │   └── geo    utcoffset → local.hour
    └── site       cat → categories, cat → site.categories, domain → site.domain, …
        └── content …

So an object that a request does not have costs one lookup, whatever could be in it. The parts of an
imp that belong to one of its formats are trees of their own: each format becomes an event. This
runs for every request, so it works on tuples in one loop: calls and attribute lookups of Python are
its main cost.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from app.openrtb.readers import WRONG, Context, Object, Reader
from app.openrtb.table import GIVEN, IMP, REQUEST, Row
from campaigns.catalogue.vocabulary import FORMATS

Given = Mapping[str, Any]
"""Values of attributes in `GIVEN`."""

_ONLY: Final = -1
_LIST: Final = -2

_Step = tuple[str, str, str, tuple[str, ...], Reader, int]
"""A field, its path, its attribute, the types that this may have in the catalogue, how to read it,
and the field's rank among those of the attribute: the lowest that has a value counts."""

_Node = tuple[tuple[_Step, ...], tuple[tuple[str, str, Any], ...]]
"""The steps of an object, and the name, the path and the node of each object inside."""


@dataclass(slots=True)
class _Object:
    """A node while it is built."""

    steps: list[_Step] = field(default_factory=list)
    inside: dict[str, "_Object"] = field(default_factory=dict)

    def compiled(self, path: str) -> _Node:
        below = f"{path}." if path else ""
        return tuple(self.steps), tuple(
            (name, below + name, each.compiled(below + name)) for name, each in self.inside.items()
        )


class Fields:
    """The rows of a table whose fields are below `root`, compiled. The fields of `GIVEN` are not
    read here: their values are given."""

    def __init__(self, rows: Iterable[Row], root: str = "", without: Collection[str] = ()) -> None:
        tree = _Object()
        given = []
        start = f"{root}." if root else ""
        for row in rows:
            kinds = _kinds(row.type)
            if row.attribute in GIVEN:
                given.append((row.attribute, kinds))
                continue
            several = _LIST if row.type.endswith(" list") else 0
            for rank, path in enumerate(row.paths):
                if not path.startswith(start) or _is_below(path, without):
                    continue
                *owners, name = path.removeprefix(start).split(".")
                place = tree
                for owner in owners:
                    place = place.inside.setdefault(owner, _Object())
                rank = _ONLY if len(row.paths) == 1 else several or rank
                place.steps.append((name, path, row.attribute, kinds, row.read, rank))
        self._tree = tree.compiled(root)
        self._given = tuple(given)

    def attributes(
        self,
        document: Object,
        declared: Mapping[str, str],
        context: Context,
        given: Given | None = None,
    ) -> dict[str, Any]:
        """The attributes of a document that are declared with the table's type."""
        event: dict[str, Any] = {}
        if given is not None:
            for attribute, kinds in self._given:
                value = given.get(attribute)
                if value is not None and declared.get(attribute) in kinds:
                    event[attribute] = value
        _read(self._tree, document, declared, context, event, {})
        return event


def _read(
    node: _Node,
    document: Object,
    declared: Mapping[str, str],
    context: Context,
    event: dict[str, Any],
    ranks: dict[str, int],
) -> None:
    """Add the attributes of an object and of those inside; `ranks` are those of the values that
    are there."""
    steps, inside = node
    for name, path, attribute, kinds, read, rank in steps:
        value = document.get(name)
        if value is None or declared.get(attribute) not in kinds:
            continue
        if rank > 0 and ranks.get(attribute, rank) < rank:
            continue
        value = read(value, document, context)
        if value is WRONG:
            context.ignore(path)
            context.loose = context.lost = False
            continue
        if context.loose or context.lost:
            context.settle(path)
        if value is None:
            continue
        if rank >= 0:
            ranks[attribute] = rank
        elif rank == _LIST and attribute in event:
            value = list(dict.fromkeys((*event[attribute], *value)))
        event[attribute] = value
    for name, path, child in inside:
        found = document.get(name)
        if found is None:
            continue
        if type(found) is dict:
            _read(child, found, declared, context, event, ranks)
        else:
            context.ignore(path)


def _kinds(type: str) -> tuple[str, ...]:
    """A version may be declared as a string: its text is one."""
    return (type, "string") if type == "version" else (type,)


def _is_below(path: str, places: Collection[str]) -> bool:
    return any(path.startswith(f"{place}.") for place in places)


class Table:
    """The table, and more rows of the deployer, compiled."""

    def __init__(self, more: tuple[Row, ...] = ()) -> None:
        of_imp = (*IMP, *(row for row in more if row.paths[0].startswith("imp.")))
        of_request = (*REQUEST, *(row for row in more if row not in of_imp))
        places = {format: f"imp.{format}" for format in FORMATS}
        self.request = Fields(of_request)
        self.imp = Fields(of_imp, "imp", without=places.values())
        self.formats = {format: Fields(of_imp, place) for format, place in places.items()}
        self.types = {row.attribute: row.type for row in (*of_request, *of_imp)}


TABLE = Table()
