"""What functions in Python get from Spark and give to it: batches of rows, and tables as bytes.

A table that goes from one task in Python to another is one value for Spark, which moves it but does
not read it.
"""

from collections.abc import Iterator

import pyarrow as pa

Batches = Iterator[pa.RecordBatch]


def packed(table: pa.Table) -> bytes:
    """A table as bytes."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def unpacked(content: bytes) -> pa.Table:
    """The table that was packed."""
    return pa.ipc.open_stream(content).read_all()
