"""Arrow functions on a batch of rows: whole columns at a time."""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

Batches = Iterator[pa.RecordBatch]


def repeated(text: str, times: int) -> pa.Array:
    """A column of one text."""
    return pa.repeat(pa.scalar(text), times)


def elements(lists: pa.Array) -> tuple[pa.Array, pa.Array]:
    """The row numbers and the elements of a column of lists; an element that a list repeats comes
    once."""
    owners = pc.list_parent_indices(lists)
    each = pa.table({"owner": owners, "value": pc.list_flatten(lists)})
    once = each.group_by(["owner", "value"]).aggregate([])
    return once["owner"].combine_chunks(), once["value"].combine_chunks()
