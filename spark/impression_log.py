"""Reads the impression log: lines of JSON, or typed columns from a Parquet directory or a table.

    DIR/dt=2026-11-16/hour=07/part-….jsonl     a line each, read by `transforms/lines.py`
    DIR/dt=2026-11-16/part-….parquet           columns of the same names (`transforms/typed.py`)
    --table lake.impressions                   the same, by any reader that Spark has; `dt` is a
                                               column with the day

`counted`, `checked` and `malformed` are the passes over it that a job may make.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, StructType

from index import Schema
from spark.columns import DAY, LINE, TYPES, counted_attributes, typed_row
from spark.directory import Directory
from spark.errors import NoImpressions, WrongArguments
from spark.files import FileReader, Part, PartReader, divided
from spark.line_files import TASK_SIZE as LINES_TASK
from spark.line_files import LineFileReader, is_plain, line_parts
from spark.parquet_files import TASK_SIZE as PARQUET_TASK
from spark.parquet_files import ParquetFile, ParquetReader
from spark.transforms import passes
from spark.transforms.lines import LineReader
from spark.transforms.malformed import malformed
from spark.transforms.rows import Reader
from spark.transforms.typed import TypedReader

JSON, PARQUET = "json", "parquet"


class ImpressionLog:
    """A log by its directory, or by the name of a table."""

    def __init__(
        self, spark: SparkSession, schema: Schema, path: str, format: str = JSON, table: str = ""
    ) -> None:
        self._spark = spark
        self._attributes = counted_attributes(schema)
        self._format = format
        self._table = spark.read.table(table) if table else None
        self._directory = Directory(spark, path) if path else None
        self.name = table or self.directory.path
        if self._directory is not None and not self._directory.exists():
            raise NoImpressions(f"the directory {self.name} does not exist")

    @property
    def directory(self) -> Directory:
        """The directory of the log; a table has none."""
        if self._directory is None:
            raise WrongArguments("a table has no directory: pass --quarantine DIR")
        return self._directory

    def days(self) -> list[str]:
        """The days that it has."""
        if self._table is None:
            return self.directory.days()
        rows = self._table.select(F.col("dt").cast("string")).distinct().collect()
        return sorted(row["dt"] for row in rows if row["dt"])

    def size(self, days: Sequence[str]) -> int:
        """The bytes of these days; 0 if that is unknown."""
        return self.directory.size(days) if self._table is None else 0

    def counted(self, days: Sequence[str], sample: int, tasks: int) -> DataFrame:
        """What each task finds in these days: sums, a sample, malformed rows
        (`transforms/found.py`), to be added up by this number of tasks."""
        return passes.counted(*self._source(days), self._attributes, sample, tasks)

    def checked(self, days: Sequence[str]) -> DataFrame:
        """The rows of these days, each with its weight or its problem."""
        return passes.checked(*self._source(days), self._attributes)

    def malformed(self, days: Sequence[str]) -> DataFrame:
        """The malformed rows of these days."""
        return malformed(passes.malformed(*self._source(days)))

    def _source(self, days: Sequence[str]) -> tuple[DataFrame, Reader]:
        """What Spark sends to the workers, and what reads it there."""
        if self._table is not None:
            day = F.col("dt").cast("string")
            rows = self._table.where(day.isin(*days)).withColumn(DAY, day)
            return self._typed(rows), TypedReader(self._attributes)
        is_json = self._format == JSON
        if self.directory.is_local:
            paths = [
                (day, path)
                for day in days
                for path in self.directory.child(f"dt={day}").local_files()
            ]
            if not is_json:
                return self._opened_by_workers(
                    self._parquet_parts(paths), PARQUET_TASK, ParquetReader(self._attributes)
                )
            if all(is_plain(path) for _, path in paths):
                found = [part for day, path in paths for part in line_parts(day, path)]
                return self._opened_by_workers(found, LINES_TASK, LineFileReader(self._attributes))
        part, reader = (self._lines, LineReader) if is_json else (self._columns, TypedReader)
        return reduce(DataFrame.unionAll, map(part, days)), reader(self._attributes)

    def _parquet_parts(self, paths: Iterable[tuple[str, str]]) -> Iterator[Part]:
        for day, path in paths:
            file = ParquetFile(path)
            self._check(file.types(self._attributes), path)
            yield from file.parts(day)

    def _opened_by_workers(
        self, parts: Iterable[Part], task_size: int, reader: PartReader
    ) -> tuple[DataFrame, Reader]:
        tasks = divided(parts, self._spark.sparkContext.defaultParallelism, task_size)
        numbers = self._spark.range(0, len(tasks), 1, max(1, len(tasks)))
        return numbers, FileReader(tasks, reader)

    def _files(self, format: str, day: str) -> DataFrame:
        """The files of a day, in its directory and below."""
        reader = self._spark.read.format(format).option("recursiveFileLookup", True)
        reader = reader.option("lineSep", "\n").option("mergeSchema", True)
        return reader.load(self.directory.child(f"dt={day}").path)

    def _lines(self, day: str) -> DataFrame:
        line = F.col("value").cast("binary").alias(LINE)
        return self._files("text", day).select(line).withColumn(DAY, F.lit(day))

    def _columns(self, day: str) -> DataFrame:
        return self._typed(self._files("parquet", day).withColumn(DAY, F.lit(day)))

    def _check(self, rows: StructType, name: str) -> None:
        """Refuse columns that have other types than the catalogue."""
        columns = {each.name: each.dataType for each in rows}
        for column in ("time", "request_id", "attributes", "sample_rate"):
            if column not in columns:
                raise WrongArguments(f"{name} has no column {column}")
        attributes, builtins = columns["attributes"], columns.get("builtins")
        if not isinstance(attributes, StructType):
            raise WrongArguments(
                f"attributes in {name} is a {attributes.simpleString()}, not a struct with "
                "a field for each attribute"
            )
        if builtins is not None and not isinstance(builtins, StructType):
            raise WrongArguments(f"builtins in {name} is {builtins.simpleString()}, not a struct")
        found = {each.name: each.dataType for each in attributes}
        for each in self._attributes:
            if each.name in found and _kind(found[each.name]) != _kind(TYPES[each.type]):
                raise WrongArguments(
                    f"attributes.`{each.name}` in {name} is {found[each.name].simpleString()}; "
                    f"the catalogue says {each.type}"
                )

    def _typed(self, rows: DataFrame) -> DataFrame:
        """The columns that the jobs use, in the types of the catalogue."""
        self._check(rows.schema, self.name)
        made = {
            "time": F.col("time").cast("double"),
            "request_id": F.col("request_id"),
            "sample_rate": F.col("sample_rate"),
            DAY: F.col(DAY),
        }
        for each in typed_row(self._attributes):
            if isinstance(each.dataType, StructType):
                made[each.name] = _struct(rows.schema, each.name, each.dataType)
        return rows.select(
            *(
                made[each.name].cast(each.dataType).alias(each.name)
                for each in typed_row(self._attributes)
            )
        )


def _struct(rows: StructType, name: str, wanted: StructType) -> Column:
    """A struct with the wanted fields; those that the rows do not have are null."""
    if name not in rows.names:
        return F.lit(None)
    there = set(rows[name].dataType.names)  # type: ignore[attr-defined]
    fields = [
        (F.col(f"{name}.{_quoted(each.name)}") if each.name in there else F.lit(None))
        .cast(each.dataType)
        .alias(each.name)
        for each in wanted
    ]
    return F.when(F.col(name).isNotNull(), F.struct(*fields))


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


_WIDENED = {"tinyint": "bigint", "smallint": "bigint", "int": "bigint", "float": "double"}


def _kind(type: DataType) -> str:
    """The type with narrow numbers as wide ones."""
    if isinstance(type, ArrayType):
        return f"array<{_kind(type.elementType)}>"
    name = type.simpleString()
    return _WIDENED.get(name, name)
