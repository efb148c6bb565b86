"""Reads the impression log: lines of JSON, or typed columns from a Parquet directory or a table.

    DIR/dt=2026-11-16/hour=07/part-….jsonl     a line each, parsed by `transforms/lines.py`
    DIR/dt=2026-11-16/part-….parquet           columns of the same names
    --table lake.impressions                   the same, by any reader that Spark has; `dt` is a
                                               column with the day

Wherever it comes from, a row has the columns of `row_type`.
"""

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, StructType

from index import Attribute, Schema
from spark.columns import TYPES, counted_attributes, row_type
from spark.directory import Directory
from spark.errors import NoImpressions, WrongArguments
from spark.transforms.lines import parsed

JSON, PARQUET = "json", "parquet"


class ImpressionLog:
    """A log by its directory, or by the name of a table."""

    def __init__(
        self, spark: SparkSession, schema: Schema, path: str, format: str = JSON, table: str = ""
    ) -> None:
        self._spark = spark
        self._schema = schema
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
    def is_parsed(self) -> bool:
        """Whether its lines are parsed, which is worth doing only once."""
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

    def rows(self, days: Sequence[str]) -> DataFrame:
        """The rows of these days, not validated yet."""
        if self._table is not None:
            day = F.col("dt").cast("string")
            return self._typed(self._table.where(day.isin(*days)).withColumn("day", day))
        parts = [self._part(day).withColumn("day", F.lit(day)) for day in days]
        if self.is_parsed:
            return parsed(reduce(DataFrame.unionAll, parts), self._schema)
        return reduce(DataFrame.unionAll, map(self._typed, parts))

    def _part(self, day: str) -> DataFrame:
        """The files of a day, in its directory and below."""
        reader = self._spark.read.option("recursiveFileLookup", True)
        path = self.directory.child(f"dt={day}").path
        if not self.is_parsed:
            return reader.parquet(path)
        return reader.option("lineSep", "\n").text(path).select(F.col("value").cast("binary"))

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
        counted = counted_attributes(self._schema)
        known = {each.name: each.dataType for each in attributes}
        fields = [self._field(each, known.get(each.name)) for each in counted]
        there = F.col("attributes").isNotNull()
        made = {
            "time": F.col("time").cast("double"),
            "attributes": F.when(there, F.struct(*fields)),
            "builtins": F.col("builtins") if "builtins" in columns else F.lit(None),
        }
        return rows.select(
            *(
                made.get(each.name, F.col(each.name) if each.name in columns else F.lit(None))
                .cast(each.dataType)
                .alias(each.name)
                for each in row_type(counted)
            )
        )

    def _field(self, attribute: Attribute, found: DataType | None) -> Column:
        wanted = TYPES[attribute.type]
        if found is None:
            return F.lit(None).cast(wanted).alias(attribute.name)
        if _kind(found) != _kind(wanted):
            raise WrongArguments(
                f"attributes.`{attribute.name}` in {self.name} is {found.simpleString()}; "
                f"the catalogue says {attribute.type}"
            )
        return F.col(f"attributes.`{attribute.name}`").cast(wanted).alias(attribute.name)


_WIDENED = {"tinyint": "bigint", "smallint": "bigint", "int": "bigint", "float": "double"}


def _kind(type: DataType) -> str:
    """The type with narrow numbers as wide ones."""
    if isinstance(type, ArrayType):
        return f"array<{_kind(type.elementType)}>"
    name = type.simpleString()
    return _WIDENED.get(name, name)
