"""Reads the impression log: lines of JSON, or typed columns from a Parquet directory or a table.

    DIR/dt=2026-11-16/hour=07/part-….jsonl     a line each, read by `transforms/lines.py`
    DIR/dt=2026-11-16/part-….parquet           columns of the same names (`transforms/typed.py`)
    --table lake.impressions                   the same, by any reader that Spark has; `dt` is a
                                               column with the day

`counted` and `checked` are the pass over it that a job makes.
"""

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, StructType

from index import Attribute, Schema
from spark.columns import BUILT_INS, DAY, LINE, TYPES, counted_attributes, typed_row
from spark.directory import Directory
from spark.errors import NoImpressions, WrongArguments
from spark.transforms import passes
from spark.transforms.lines import LineReader
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

    @property
    def _has_lines(self) -> bool:
        return self._table is None and self._format == JSON

    def days(self) -> list[str]:
        """The days that it has."""
        if self._table is None:
            return self.directory.days()
        rows = self._table.select(F.col("dt").cast("string")).distinct().collect()
        return sorted(row["dt"] for row in rows if row["dt"])

    def size(self, days: Sequence[str]) -> int:
        """The bytes of these days; 0 if that is unknown."""
        return self.directory.size(days) if self._table is None else 0

    def counted(self, days: Sequence[str], sample: int) -> DataFrame:
        """What each task finds in these days: sums, a sample, malformed rows
        (`transforms/passes.py`)."""
        return passes.counted(self._raw(days), self._reader(), self._attributes, sample)

    def checked(self, days: Sequence[str]) -> DataFrame:
        """The rows of these days, each with its weight and its problem."""
        return passes.checked(self._raw(days), self._reader(), self._attributes)

    def _reader(self) -> Reader:
        return (LineReader if self._has_lines else TypedReader)(self._attributes)

    def _raw(self, days: Sequence[str]) -> DataFrame:
        """The lines or the columns of these days."""
        if self._table is not None:
            day = F.col("dt").cast("string")
            return self._typed(self._table.where(day.isin(*days)).withColumn(DAY, day))
        parts = [self._part(day).withColumn(DAY, F.lit(day)) for day in days]
        return reduce(DataFrame.unionAll, parts if self._has_lines else map(self._typed, parts))

    def _part(self, day: str) -> DataFrame:
        """The files of a day, in its directory and below."""
        reader = self._spark.read.option("recursiveFileLookup", True)
        path = self.directory.child(f"dt={day}").path
        if not self._has_lines:
            return reader.parquet(path)
        line = F.col("value").cast("binary").alias(LINE)
        return reader.option("lineSep", "\n").text(path).select(line)

    def _typed(self, rows: DataFrame) -> DataFrame:
        """The columns that the jobs use, in the types of the catalogue."""
        columns = {each.name: each.dataType for each in rows.schema}
        for name in ("time", "request_id", "attributes", "sample_rate"):
            if name not in columns:
                raise WrongArguments(f"{self.name} has no column {name}")
        attributes = columns["attributes"]
        if not isinstance(attributes, StructType):
            raise WrongArguments(
                f"attributes in {self.name} is a {attributes.simpleString()}, not a struct with "
                "a field for each attribute"
            )
        known = {each.name: each.dataType for each in attributes}
        fields = [self._field(each, known.get(each.name)) for each in self._attributes]
        there = F.col("attributes").isNotNull()
        made = {
            "time": F.col("time").cast("double"),
            "attributes": F.when(there, F.struct(*fields)),
            "builtins": self._builtins(columns.get("builtins")),
        }
        return rows.select(
            *(
                made.get(each.name, F.col(each.name) if each.name in columns else F.lit(None))
                .cast(each.dataType)
                .alias(each.name)
                for each in typed_row(self._attributes)
            )
        )

    def _builtins(self, found: DataType | None) -> Column:
        """A log from elsewhere may have none, or only one of them."""
        if found is None:
            return F.lit(None)
        if not isinstance(found, StructType):
            raise WrongArguments(f"builtins in {self.name} is {found.simpleString()}, not a struct")
        fields = [
            (F.col(f"builtins.`{name}`") if name in found.names else F.lit(None))
            .cast("bigint")
            .alias(name)
            for name in BUILT_INS
        ]
        return F.when(F.col("builtins").isNotNull(), F.struct(*fields))

    def _field(self, attribute: Attribute, found: DataType | None) -> Column:
        wanted = TYPES[attribute.type]
        if found is None:
            return F.lit(None).cast(wanted).alias(attribute.name)
        if _kind(found) != _kind(wanted):
            raise WrongArguments(
                f"attributes.`{attribute.name}` in {self.name} is {found.simpleString()}; "
                f"the catalogue says {attribute.type}"
            )
        quoted = attribute.name.replace("`", "``")
        return F.col(f"attributes.`{quoted}`").cast(wanted).alias(attribute.name)


_WIDENED = {"tinyint": "bigint", "smallint": "bigint", "int": "bigint", "float": "double"}


def _kind(type: DataType) -> str:
    """The type with narrow numbers as wide ones."""
    if isinstance(type, ArrayType):
        return f"array<{_kind(type.elementType)}>"
    name = type.simpleString()
    return _WIDENED.get(name, name)
