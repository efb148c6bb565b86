"""The sample of one task: of its requests, those whose ids have the smallest SHA-256.

A hash is as good as a draw, and a second run draws the same. The sample of all tasks is the least
of theirs, so none of them needs to know how many rows there are.
"""

from collections.abc import Iterable
from hashlib import sha256

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa

from index import Attribute
from index.language import Type
from spark.columns import BUILT_INS
from spark.transforms.rows import Request, Rows

SAMPLED = pa.schema(
    [("lot", pa.string()), ("day", pa.string()), ("text", pa.string()), ("weight", pa.int64())]
)
"""A sampled request: the hash that decides whether it is one, and the request as JSON."""

_Sent = tuple[str, str, int]


class Sampler:
    """Keeps at least `most` requests with different ids, if there are as many: rows that repeat an
    id must not fill the sample. Rows are compared by the first eight bytes of their hash. They stay
    as they were read until the end, since most of those that are kept at first have to go again."""

    def __init__(self, most: int, attributes: Iterable[Attribute]) -> None:
        self._most = most
        self._kinds = {each.name: each.type for each in attributes}
        self._bound = np.uint64(2**64 - 1)
        self._kept: list[tuple[npt.NDArray[np.uint64], Rows]] = []

    def add(self, rows: Rows) -> None:
        ids = rows.ids
        lots = b"".join([sha256((ids[place] or "").encode()).digest()[:8] for place in rows.good])
        self._keep(np.frombuffer(lots, ">u8").astype(np.uint64), rows, np.array(rows.good, int))
        if sum(len(lots) for lots, _ in self._kept) > 2 * self._most:
            self._drop()

    def _keep(
        self, lots: npt.NDArray[np.uint64], rows: Rows, places: npt.NDArray[np.int64]
    ) -> None:
        """Keep the rows at these places whose `lots` are within the bound."""
        within = lots <= self._bound
        if within.any():
            self._kept.append((lots[within], rows.chosen(places[within].tolist())))

    def _drop(self) -> None:
        """Lower the bound, and drop the rows above it."""
        different = np.unique(np.concatenate([lots for lots, _ in self._kept]))
        if len(different) > self._most:
            self._bound = different[self._most - 1]
        kept, self._kept = self._kept, []
        for lots, rows in kept:
            self._keep(lots, rows, np.arange(len(lots)))

    def sent(self) -> pa.Table:
        """The sampled requests. Of those with the same id, the least: their order must not
        matter."""
        if self._kept:
            self._drop()
        found: dict[str, _Sent] = {}
        for _, rows in self._kept:
            for place, request in enumerate(rows.content.requests()):
                lot = sha256((rows.ids[place] or "").encode()).hexdigest()
                sent = self._sent(rows, place, request)
                found[lot] = min(found.get(lot, sent), sent)
        days, texts, weights = zip(*found.values(), strict=True) if found else ((), (), ())
        return pa.table([list(found), days, texts, weights], schema=SAMPLED)

    def _sent(self, rows: Rows, place: int, request: Request) -> _Sent:
        """The day, the request as JSON, and the weight; integers of a float attribute are floats,
        as columns have them."""
        attributes, builtins = request
        kinds = self._kinds
        said = {
            "attributes": {
                name: float(value) if kinds[name] is Type.FLOAT else value
                for name, value in attributes.items()
                if name in kinds and value is not None
            },
            "builtins": {name: builtins[name] for name in BUILT_INS if name in builtins},
            "time": float(rows.times[place]),
        }
        text = orjson.dumps(said, option=orjson.OPT_SORT_KEYS).decode()
        return rows.days[place], text, int(rows.weights[place])
