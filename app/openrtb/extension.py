"""More rows for the table, from a file of the deployer (`COPSE_OPENRTB_MAPPING`).

    [[attribute]]
    name = "site.section"
    type = "string"
    paths = ["site.ext.section", "app.ext.section"]

A path that begins with `imp` is read for each format of an imp, any other once for a request. What
is about the user cannot be named: privacy decides about that, field by field.
"""

import re
import tomllib
from pathlib import Path
from typing import Any

from app.openrtb import list_readers as lists
from app.openrtb import readers as r
from app.openrtb.mapping import Table
from app.openrtb.privacy import ID_FIELDS
from app.openrtb.table import IMP, NOT_FED, REQUEST, Row
from index import Attribute, SchemaError

READERS: dict[str, r.Reader] = {
    "string": r.text,
    "int": r.number(-(2**53), 2**53),
    "float": r.within(-1e300, 1e300),
    "bool": r.flag,
    "string list": lists.texts,
    "int list": lists.codes,
}
"""How a field becomes an attribute of each type."""

_PATH = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+")
_PERSONAL = (
    *("user", "regs", "geo", "device.geo", "device.ip", "device.ipv6"),
    *(f"device.{name}" for name in ID_FIELDS["device"]),
)


class BadMapping(ValueError):
    """The file is not a mapping; the message says where and what to do."""


def read(file: Path) -> Table:
    """The table with the rows of a file; `BadMapping`."""
    try:
        document = tomllib.loads(file.read_text())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadMapping(f"{file}: {error}") from None
    listed = document.pop("attribute", None)
    if document or not isinstance(listed, list):
        raise BadMapping(f"{file}: expected tables [[attribute]] and nothing else")
    rows: list[Row] = []
    taken = {row.attribute for row in (*REQUEST, *IMP)} | NOT_FED.keys()
    for number, each in enumerate(listed, 1):
        try:
            row = _row(each)
        except ValueError as error:
            raise BadMapping(f"{file}: attribute {number}: {error}") from None
        if row.attribute in taken:
            raise BadMapping(f"{file}: attribute {number}: {row.attribute} is mapped already")
        taken.add(row.attribute)
        rows.append(row)
    return Table(tuple(rows))


def _row(document: Any) -> Row:
    if not isinstance(document, dict) or document.keys() != {"name", "type", "paths"}:
        raise ValueError("expected name, type and paths")
    try:
        attribute = Attribute(str(document["name"]), str(document["type"]))
    except SchemaError as error:
        raise ValueError(str(error)) from None
    type, paths = attribute.type.value, document["paths"]
    if type not in READERS:
        raise ValueError(f"the type is one of {', '.join(READERS)}, not {type}")
    if not isinstance(paths, list) or not paths:
        raise ValueError("paths is a list of at least one path like site.ext.section")
    for path in paths:
        if not isinstance(path, str) or not _PATH.fullmatch(path):
            raise ValueError(f"{path!r} is not a path like site.ext.section")
        if any(path == name or path.startswith(f"{name}.") for name in _PERSONAL):
            raise ValueError(f"{path} is about the user, which only the built-in table may use")
    if len({path.startswith("imp.") for path in paths}) > 1:
        raise ValueError("either all paths begin with imp or none does")
    return Row(attribute.name, type, tuple(paths), READERS[type], "from the deployer's file")
