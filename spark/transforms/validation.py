"""Separates the good rows of the log from the malformed ones."""

from collections.abc import Iterator

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from index import Attribute, Schema
from index.language import Type
from spark.columns import column_sql, counted_attributes
from spark.impression_log import CORRUPT
from spark.weights import WEIGHT, weight

PROBLEM = "problem"
RECORD = "record"

_NOTHING_READ = "request_id IS NULL AND time IS NULL AND attributes IS NULL"
_DAY = "date_format(timestamp_seconds(time), 'yyyy-MM-dd')"


def validated(log: DataFrame, schema: Schema) -> DataFrame:
    """The rows with their `weight` and their `problem`, which is null for a good row. A bad row has
    its text, or what Spark could read from it, in `record`."""
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
    """The rows without a problem."""
    return rows.where(F.col(PROBLEM).isNull()).drop(PROBLEM, RECORD)


def quarantined(rows: DataFrame) -> DataFrame:
    """The malformed rows: the day, the problem and the text."""
    return rows.where(F.col(PROBLEM).isNotNull()).select("day", PROBLEM, RECORD)


def _problems(schema: Schema) -> Iterator[tuple[str, str]]:
    """Each problem and its SQL condition; a row gets the first that holds."""
    attributes = counted_attributes(schema)
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
    return f"coalesce(exists({column_sql(attribute.name)}, e -> e IS NULL), false)"


def _is_infinite(attribute: Attribute) -> str:
    return f"coalesce(abs({column_sql(attribute.name)}) = double('infinity'), false)"
