"""Which lines of the log are good, and what is wrong with the others."""

from collections.abc import Iterator

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from index import Attribute, Schema
from index.language import Type
from spark.columns import counted, field
from spark.impression_log import CORRUPT
from spark.weights import WEIGHT, weight

PROBLEM = "problem"
RECORD = "record"

_NOTHING_READ = "request_id IS NULL AND time IS NULL AND attributes IS NULL"
_DAY = "date_format(timestamp_seconds(time), 'yyyy-MM-dd')"


def validated(log: DataFrame, schema: Schema) -> DataFrame:
    """The rows with their `weight`, and `problem`: null for a good one. A bad one has its text, or
    what was read of it, in `record`."""
    cases = " ".join(f"WHEN {when} THEN '{problem}'" for problem, when in _problems(schema))
    judged = log.withColumn(PROBLEM, F.expr(f"CASE {cases} END"))
    good = F.col(PROBLEM).isNull()
    read = F.to_json(F.struct("time", "request_id", "attributes", "sample_rate"))
    return judged.select(
        F.col("dt").alias("day"),
        "time",
        "request_id",
        "attributes",
        "builtins",
        F.when(good, weight(F.col("sample_rate"))).alias(WEIGHT),
        PROBLEM,
        F.when(~good, F.coalesce(F.col(CORRUPT), read)).alias(RECORD),
    )


def good_rows(rows: DataFrame) -> DataFrame:
    """Those that count."""
    return rows.where(F.col(PROBLEM).isNull()).drop(PROBLEM, RECORD)


def quarantined(rows: DataFrame) -> DataFrame:
    """Those that are set aside: their day, what is wrong, and their text."""
    return rows.where(F.col(PROBLEM).isNotNull()).select("day", PROBLEM, RECORD)


def _problems(schema: Schema) -> Iterator[tuple[str, str]]:
    """What may be wrong, and the SQL that tells; the first that holds is named."""
    attributes = counted(schema)
    yield "not_json", f"{CORRUPT} IS NOT NULL AND {_NOTHING_READ}"
    yield "wrong_type", f"{CORRUPT} IS NOT NULL"
    yield "no_time", "time IS NULL"
    yield "no_request_id", "coalesce(request_id, '') = ''"
    yield "no_attributes", "attributes IS NULL"
    yield "sample_rate", "NOT coalesce(sample_rate BETWEEN 1e-9D AND 1D, false)"
    yield "other_day", f"{_DAY} <> dt"
    nulls = [_has_null(each) for each in attributes if each.type.is_list]
    if nulls:
        yield "null_element", " OR ".join(nulls)
    infinite = [_is_infinite(each) for each in attributes if each.type is Type.FLOAT]
    if infinite:
        yield "not_finite", " OR ".join(infinite)


def _has_null(attribute: Attribute) -> str:
    return f"coalesce(exists({field(attribute.name)}, e -> e IS NULL), false)"


def _is_infinite(attribute: Attribute) -> str:
    return f"coalesce(abs({field(attribute.name)}) = double('infinity'), false)"
