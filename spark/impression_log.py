"""The impression log as rows of Spark, with the schema given: nothing is guessed.

    DIR/dt=2026-11-16/hour=07/part-….jsonl  ──▶  a row for each line; `corrupt` has the text of a
                                                 line that is no JSON, or has a value of another
                                                 type than the catalogue says

A string is the exception: Spark reads whatever stands there as its text, 5 as "5".
"""

from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import DoubleType, LongType, StringType, StructField, StructType

from index import Schema
from spark.columns import counted, struct_of

BUILT_INS = ("now.hour", "now.weekday")
CORRUPT = "corrupt"


def log_schema(schema: Schema) -> StructType:
    """The fields of a line that are of use here; the others are passed over."""
    return StructType(
        [
            StructField("time", DoubleType()),
            StructField("request_id", StringType()),
            StructField("attributes", struct_of(counted(schema))),
            StructField(
                "builtins", StructType([StructField(name, LongType()) for name in BUILT_INS])
            ),
            StructField("sample_rate", DoubleType()),
            StructField("dt", StringType()),
            StructField(CORRUPT, StringType()),
        ]
    )


def read_log(spark: SparkSession, root: str, days: Sequence[str], schema: Schema) -> DataFrame:
    """The lines of some days."""
    return (
        spark.read.schema(log_schema(schema))
        .option("basePath", root)
        .option("mode", "PERMISSIVE")
        .option("columnNameOfCorruptRecord", CORRUPT)
        .option("allowNonNumericNumbers", False)
        .json([f"{root.rstrip('/')}/dt={day}" for day in days])
    )
