"""Separates the good rows of the log from the malformed ones."""

from collections.abc import Iterator

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from index import Attribute, Schema
from index.language import Type
from spark.columns import PROBLEM, RECORD, column_sql, counted_attributes
from spark.weights import WEIGHT, weight

_DAY = "date_format(timestamp_seconds(time), 'yyyy-MM-dd')"


def validated(rows: DataFrame, schema: Schema) -> DataFrame:
    """The rows with their `weight` and their `problem`, which is null for a good row. A bad row has
    its text, or what was read from it, in `record`."""
    cases = " ".join(f"WHEN {when} THEN '{problem}'" for problem, when in _problems(schema))
    problem = F.coalesce(F.col(PROBLEM), F.expr(f"CASE {cases} END"))
    judged = rows.withColumn(PROBLEM, problem)
    good = F.col(PROBLEM).isNull()
    read = F.to_json(F.struct("time", "request_id", "attributes", "sample_rate"))
    return judged.select(
        "day",
        "time",
        "request_id",
        "sample_rate",
        "attributes",
        "builtins",
        F.when(good, weight(F.col("sample_rate"))).alias(WEIGHT),
        PROBLEM,
        F.when(~good, F.coalesce(F.col(RECORD), read)).alias(RECORD),
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
    yield "no_time", "time IS NULL"
    yield "no_request_id", "coalesce(request_id, '') = ''"
    yield "no_attributes", "attributes IS NULL"
    yield "sample_rate", "NOT coalesce(sample_rate BETWEEN 1e-9D AND 1D, false)"
    yield "other_day", f"NOT time BETWEEN {_YEARS} OR {_DAY} <> day"
    # Lines of JSON have been checked for these; columns of others have not.
    for problem, rule, types in (
        ("null_element", "exists({0}, e -> e IS NULL)", (Type.INT_LIST, Type.STRING_LIST)),
        ("not_finite", "isnan({0}) OR abs({0}) = double('infinity')", (Type.FLOAT,)),
        ("wrong_type", "contains({0}, char(0))", (Type.STRING,)),
        ("wrong_type", "exists({0}, e -> contains(e, char(0)))", (Type.STRING_LIST,)),
    ):
        conditions = [_holds(rule, each) for each in attributes if each.type in types]
        if conditions:
            yield problem, " OR ".join(conditions)


_YEARS = "0 AND 253402300799"
"""The seconds of the years that have four digits."""


def _holds(rule: str, attribute: Attribute) -> str:
    return f"coalesce({rule.format(column_sql(attribute.name))}, false)"
