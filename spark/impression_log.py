"""Reads the impression log with a fixed schema: Spark infers nothing.

    DIR/dt=2026-11-16/hour=07/part-….jsonl  ──▶  a row for each line; `corrupt` has the text of a
                                                 line that is not JSON or has a value of a type
                                                 other than the catalogue's

Strings are an exception: Spark reads any value as its text, 5 as "5".
"""

from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import DoubleType, LongType, StringType, StructField, StructType

from index import Schema
from spark.columns import attributes_type, counted_attributes

BUILT_INS = ("now.hour", "now.weekday")
CORRUPT = "corrupt"


def log_schema(schema: Schema) -> StructType:
    """The fields of a line that the jobs read; Spark skips the others."""
    return StructType(
        [
            StructField("time", DoubleType()),
            StructField("request_id", StringType()),
            StructField("attributes", attributes_type(counted_attributes(schema))),
            StructField(
                "builtins", StructType([StructField(name, LongType()) for name in BUILT_INS])
            ),
            StructField("sample_rate", DoubleType()),
            StructField("dt", StringType()),
            StructField(CORRUPT, StringType()),
        ]
    )


def read_log(spark: SparkSession, root: str, days: Sequence[str], schema: Schema) -> DataFrame:
    """The lines of these days."""
    return (
        spark.read.schema(log_schema(schema))
        .option("basePath", root)
        .option("mode", "PERMISSIVE")
        .option("columnNameOfCorruptRecord", CORRUPT)
        .option("allowNonNumericNumbers", False)
        .json([f"{root.rstrip('/')}/dt={day}" for day in days])
    )
