"""The sample of one task: of its requests, those whose ids have the smallest SHA-256.

A hash is as good as a draw, and a second run draws the same. The sample of all tasks is the least
of theirs, so none of them needs to know how many rows there are.
"""

from collections.abc import Iterable
from hashlib import sha256

import orjson
import pyarrow as pa

from index import Attribute
from index.language import Type
from spark.columns import BUILT_INS
from spark.transforms.counts import FOUND, SAMPLE
from spark.transforms.rows import Request, Rows

_Row = tuple[str, Request, float, int]


class Sampler:
    """Keeps at most `most` requests, one for each id: rows that repeat an id must not fill the
    sample. Of those it keeps the least, so that their order does not matter. Requests are written
    as JSON at the end: most of those that are kept at first have to go again."""

    def __init__(self, most: int, attributes: Iterable[Attribute]) -> None:
        self._most = most
        self._kinds = {each.name: each.type for each in attributes}
        self._bound = b"\xff" * 33  # above every hash
        self._kept: dict[bytes, _Row] = {}

    def add(self, rows: Rows) -> None:
        ids, bound = rows.ids, self._bound
        every = ((place, sha256((ids[place] or "").encode()).digest()) for place in rows.good)
        lots = {place: lot for place, lot in every if lot <= bound}
        if len(self._kept) + len(lots) > self._most:
            different = sorted(self._kept.keys() | lots.values())
            if len(different) > self._most:
                self._bound = bound = different[self._most - 1]
                self._kept = {lot: row for lot, row in self._kept.items() if lot <= bound}
        places = [place for place, lot in lots.items() if lot <= bound]
        for place, request in zip(places, rows.content.requests(places), strict=True):
            lot = lots[place]
            row = (rows.days[place], request, float(rows.times[place]), int(rows.weights[place]))
            other = self._kept.get(lot)
            self._kept[lot] = row if other is None else min(row, other, key=self._sent)

    def sent(self) -> pa.Table:
        """The sampled requests."""
        size, nothing = len(self._kept), pa.nulls(len(self._kept), pa.string())
        rows = map(self._sent, self._kept.values())
        days, texts, weights = zip(*rows, strict=True) if size else ((), (), ())
        columns = [
            pa.repeat(SAMPLE, size),
            nothing,
            pa.array(days, pa.string()),
            pa.array(texts, pa.string()),
            pa.array([lot.hex() for lot in self._kept], pa.string()),
            pa.array(weights, pa.int64()),
            pa.repeat(pa.scalar(1, pa.int64()), size),
        ]
        return pa.Table.from_arrays(columns, schema=FOUND)

    def _sent(self, row: _Row) -> tuple[str, str, int]:
        """The day, the request as JSON, and the weight; integers of a float attribute are floats,
        as columns have them."""
        day, (attributes, builtins), time, weight = row
        kinds = self._kinds
        said = {
            "attributes": {
                name: float(value) if kinds[name] is Type.FLOAT else value
                for name, value in attributes.items()
                if name in kinds and value is not None
            },
            "builtins": {name: builtins[name] for name in BUILT_INS if name in builtins},
            "time": time,
        }
        return day, orjson.dumps(said, option=orjson.OPT_SORT_KEYS).decode(), weight
