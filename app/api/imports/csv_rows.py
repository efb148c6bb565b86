"""CSV (RFC 4180): the first row has the names of the fields, every other row is a campaign.

    external_id,advertiser_id,name,status,categories
    spring-24,1,"Spring, early",active,IAB2 IAB7

Bytes go in as they arrive, whole rows come out; a cell in quotes may have line breaks. Rows are
numbered as in a spreadsheet: the first one is row 1.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from app.api.imports.ndjson import MAX_LINE_BYTES, SKIPPED, Line, Lines
from campaigns.campaign.model import Campaign
from campaigns.errors import FieldProblem
from campaigns.fields import Integer, Texts

CSV = "text/csv"
STATUS = "status"

FIELDS = tuple(name for name in Campaign.fields() if name in {*Campaign.writable(), STATUS})
"""The fields of an exported campaign: those that an import takes."""

_QUOTE = b'"'


class Rows(Lines):
    """Splits pieces of a text into rows."""

    def __init__(self, longest: int = MAX_LINE_BYTES) -> None:
        super().__init__(longest)
        self._names: list[str] | None = None
        self._open = b""

    def _line(self, text: bytes) -> Iterator[Line]:
        if self._dropping:
            self._open = b""
            yield from super()._line(text)
            return
        row = self._open + text
        if row.count(_QUOTE) % 2 and len(row) <= self._longest:
            self._open = row + b"\n"  # a line break in a cell
            return
        self._open = b""
        yield from super()._line(row)

    def end(self) -> Iterator[Line]:
        """The last row, if it has no line break."""
        yield from super().end()
        if self._open:
            self._number += 1
            detail = "a quote that begins a cell is never closed"
            yield Line(self._number, 0, FieldProblem("", "csv.malformed", detail))

    def _read(self, text: bytes) -> object:
        try:
            decoded = text.decode("utf-8-sig" if self._names is None else "utf-8")
            (cells,) = csv.reader([decoded.rstrip("\r")], strict=True)
        except (UnicodeDecodeError, csv.Error, ValueError) as error:
            return FieldProblem("", "csv.malformed", f"not a row of CSV in UTF-8: {error}")
        if self._names is None:
            self._names = [cell.strip() for cell in cells]
            return SKIPPED
        if len(cells) != len(self._names):
            detail = f"expected {len(self._names)} cells as in the first row, got {len(cells)}"
            return FieldProblem("", "csv.cells", detail)
        return dict(filter(None, map(_value, self._names, cells)))


def _value(name: str, cell: str) -> tuple[str, Any] | None:
    """A cell as its field takes it; what does not fit stays text, and the field refuses it."""
    if not cell.strip():
        return None if name == STATUS else (name, None)
    declared = Campaign.fields().get(name)
    kind = declared.field.kind if declared else None
    if isinstance(kind, Texts):
        return name, cell.split()
    if isinstance(kind, Integer) and cell.strip().lstrip("-").isdecimal():
        return name, int(cell)
    return name, cell


def to_csv(campaigns: Iterable[Mapping[str, Any]], head: bool) -> str:
    """Campaigns as rows that can be imported again; with the names of the fields first."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    if head:
        rows.writerow(FIELDS)
    for campaign in campaigns:
        rows.writerow(_cell(campaign[name]) for name in FIELDS)
    return text.getvalue()


def _cell(value: Any) -> Any:
    return " ".join(value) if isinstance(value, list) else "" if value is None else value
