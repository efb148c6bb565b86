"""From a request to attributes, by the table.

The table is compiled once: into the objects on its paths, each after the object that contains it,
and for each attribute where its fields are.

    objects   0 the request   1 device (in 0)   2 device.geo (in 1)   3 site (in 0) …
    sources   device.os: (1, "os")

So an object is looked up once, however many of its fields are used. This runs for every request, so
it works on tuples in one loop: calls and attribute lookups of Python are its main cost.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from app.openrtb.readers import WRONG, Context, Object, Reader
from app.openrtb.table import IMP, REQUEST, Row

_NOTHING: Object = {}

_Source = tuple[int, str, str]
"""The object, the field in it, and their path."""

_Step = tuple[str, str, bool, tuple[_Source, ...], Reader, bool | int | None]
"""An attribute, its type, whether that is a list, its sources, and how to read them."""


class Fields:
    """A compiled table."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._objects: list[_Source] = []
        places = {"": 0}
        steps: list[_Step] = []
        for row in rows:
            sources = []
            for path in row.paths:
                parent, _, field = path.rpartition(".")
                sources.append((self._place(parent, places), field, path))
            is_list = row.type.endswith(" list")
            steps.append((row.attribute, row.type, is_list, tuple(sources), row.read, row.default))
        self._steps = tuple(steps)

    def _place(self, path: str, places: dict[str, int]) -> int:
        if path not in places:
            parent, _, field = path.rpartition(".")
            owner = self._place(parent, places)
            self._objects.append((owner, field, path))
            places[path] = len(self._objects)
        return places[path]

    def attributes(
        self, document: Object, declared: Mapping[str, str], context: Context
    ) -> dict[str, Any]:
        """The attributes of a document that are declared with the table's type."""
        objects = self._found(document, context)
        event: dict[str, Any] = {}
        for attribute, kind, is_list, sources, read, default in self._steps:
            if declared.get(attribute) != kind:
                continue
            found: Any = default
            for place, field, path in sources:
                parent = objects[place]
                value = parent.get(field)
                if value is None:
                    continue
                value = read(value, parent, context)
                if value is WRONG:
                    context.ignore(path)
                elif is_list:
                    found = value if found is None else list(dict.fromkeys((*found, *value)))
                elif value is not None:
                    found = value
                    break
            if found is not None:
                event[attribute] = found
        return event

    def _found(self, document: Object, context: Context) -> list[Object]:
        objects = [document]
        for owner, field, path in self._objects:
            found = objects[owner].get(field)
            if type(found) is not dict:
                if found is not None:
                    context.ignore(path)
                found = _NOTHING
            objects.append(found)
        return objects


REQUEST_FIELDS = Fields(REQUEST)
IMP_FIELDS = Fields(IMP)
