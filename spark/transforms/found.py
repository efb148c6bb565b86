"""What a task finds in the log, as it is sent to the tasks that add it up.

    kind     slice  data                          day  problem  record
    sums     3      sums of some values (`SUM`)
    sample   3      some requests (`SAMPLED`)
    bad                                           …    no_time  {"request_id": …

A value always goes to the same slice, and a request id too, whichever task found it.
"""

from collections.abc import Iterator, Sequence
from typing import Any
from zlib import crc32

import numpy as np
import pyarrow as pa

from spark.columns import DAY, PROBLEM, RECORD
from spark.transforms.arrow import packed

SUMS, SAMPLE, BAD = "sums", "sample", "bad"

FOUND = pa.schema(
    [
        ("kind", pa.string()),
        ("slice", pa.int32()),
        ("data", pa.binary()),
        (DAY, pa.string()),
        (PROBLEM, pa.string()),
        (RECORD, pa.string()),
    ]
)

SLICES = 4
"""Slices for each task that adds up, so that the tasks have about as many each."""


def sliced(kind: str, table: pa.Table, key: str, slices: int) -> Iterator[pa.RecordBatch]:
    """The rows of a table, in a piece for each slice. The text in `key` decides, or a null."""
    keys = table[key].to_pylist()
    places = np.fromiter((crc32((each or "").encode()) % slices for each in keys), int, len(keys))
    ordered = table.take(pa.array(np.argsort(places, kind="stable"))).combine_chunks()
    ends = np.cumsum(np.bincount(places, minlength=slices)).tolist()
    for place, (start, end) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
        if start < end:
            data = packed(ordered.slice(start, end - start))
            yield batch_of(FOUND, kind=[kind], slice=[place], data=[data])


def batch_of(schema: pa.Schema, **columns: Sequence[Any]) -> pa.RecordBatch:
    """A batch with these columns; the others are null."""
    size = len(next(iter(columns.values())))
    arrays = [pa.array(columns.get(field.name, [None] * size), field.type) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
