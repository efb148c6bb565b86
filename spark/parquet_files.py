"""Parquet files on a disk, which the workers open with Arrow.

Spark's own reader turns columns into rows, and the rows into Arrow's columns again. With a hundred
attributes of which a row has twenty, that takes ten times as long as everything else.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.errors import PySparkTypeError
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from index import Attribute
from spark.columns import ARROW_TYPES, BUILT_INS, TYPED_COLUMNS
from spark.errors import WrongArguments
from spark.files import Part, named
from spark.transforms.arrow import Batches
from spark.transforms.lines import struct_of
from spark.transforms.rows import Rows
from spark.transforms.typed import TypedReader

TASK_SIZE = 64 * 2**20
_BATCH = 20_000


class ParquetFile:
    """The footer of a file: its types and its parts."""

    def __init__(self, path: str) -> None:
        self.path = path
        with _opened(path) as file:
            self._schema = file.schema_arrow
            groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
            self._sizes = [group.total_byte_size for group in groups]

    def types(self, attributes: Iterable[Attribute]) -> StructType:
        """The types of the columns that are read; the others may be of any type."""
        names = {each.name for each in attributes}
        fields = [field for field in self._schema if field.name in TYPED_COLUMNS]
        for place, field in enumerate(fields):
            type = field.type
            if field.name == "attributes" and pa.types.is_struct(type):
                type = pa.struct([each for each in type if each.name in names])
            fields[place] = field.with_type(_signed(type))
        try:
            return from_arrow_schema(pa.schema(fields))
        except PySparkTypeError as error:
            raise WrongArguments(f"{self.path}: {error}") from None

    def parts(self, day: str) -> list[Part]:
        return [Part(day, self.path, group, size) for group, size in enumerate(self._sizes)]


class ParquetReader:
    def __init__(self, attributes: Sequence[Attribute]) -> None:
        self._types = {each.name: ARROW_TYPES[each.type] for each in attributes}
        self._reader = TypedReader(attributes)

    def rows(self, part: Part) -> Iterator[Rows]:
        return self._reader.rows(self._batches(part))

    def _batches(self, part: Part) -> Batches:
        with _opened(part.path) as file:
            for batch in file.iter_batches(
                _BATCH, [part.start], self._columns(file.schema_arrow), use_threads=False
            ):
                yield self._typed(batch, part.day)

    def _columns(self, schema: pa.Schema) -> list[str]:
        """The columns to read. Without any known attribute all of them are read, since somebody
        must say in which rows `attributes` is null."""
        there = {field.name for field in schema.field("attributes").type}
        known = [f"attributes.{name}" for name in self._types if name in there]
        return [
            *(name for name in TYPED_COLUMNS if name != "attributes"),
            *(known or ["attributes"]),
        ]

    def _typed(self, batch: pa.RecordBatch, day: str) -> pa.RecordBatch:
        size = batch.num_rows
        builtins = {name: pa.int64() for name in BUILT_INS}
        empty = pa.nulls(size, pa.struct([]))
        columns = [
            pa.repeat(day, size),
            _seconds(batch.column("time")),
            batch.column("request_id").cast(pa.string()),
            batch.column("sample_rate").cast(pa.float64()),
            _fields(batch.column("attributes"), self._types),
            _fields(
                batch.column("builtins") if "builtins" in batch.schema.names else empty, builtins
            ),
        ]
        return pa.RecordBatch.from_arrays(columns, names=TYPED_COLUMNS)


def _seconds(times: pa.Array) -> pa.Array:
    if pa.types.is_timestamp(times.type):
        micros = times.cast(pa.timestamp("us", times.type.tz), safe=False).cast(pa.int64())
        return pc.divide(micros.cast(pa.float64()), 1e6)
    return times.cast(pa.float64())


def _signed(type: pa.DataType) -> pa.DataType:
    """The type with signed integers for unsigned ones, which Spark does not know."""
    if pa.types.is_struct(type):
        return pa.struct([each.with_type(_signed(each.type)) for each in type])
    if pa.types.is_list(type):
        return pa.list_(_signed(type.value_type))
    return pa.int64() if pa.types.is_unsigned_integer(type) else type


def _fields(structs: pa.Array, types: dict[str, pa.DataType]) -> pa.Array:
    """Structs with these fields; a field that they do not have is null."""
    there = dict(zip((field.name for field in structs.type), structs.flatten(), strict=True))
    columns = {
        name: there[name].cast(type) if name in there else pa.nulls(len(structs), type)
        for name, type in types.items()
    }
    return struct_of(columns, structs.is_null())


@contextmanager
def _opened(path: str) -> Iterator[pq.ParquetFile]:
    with named(path), pq.ParquetFile(path) as file:
        yield file
