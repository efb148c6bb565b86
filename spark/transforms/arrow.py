"""The batches of rows that Spark gives to a function in Python."""

from collections.abc import Iterator

import pyarrow as pa

Batches = Iterator[pa.RecordBatch]
