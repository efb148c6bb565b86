"""Stages the log: each line is read and validated once, and everything after reads columns.

    lines ──▶ validated ──▶ STAGE/state=good/part-….parquet ──▶ counts, sample
                            STAGE/state=bad/part-….parquet  ──▶ quarantine

Typed columns are cheap to read again, so those of a Parquet log or a table are not copied.
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from index import Schema
from spark.columns import PROBLEM
from spark.directory import Directory
from spark.impression_log import ImpressionLog
from spark.transforms.validation import good_rows, quarantined, validated

_STATE, _GOOD, _BAD = "state", "good", "bad"


@dataclass(frozen=True, slots=True)
class Staged:
    """The good rows, with their weights, and the malformed ones."""

    good: DataFrame
    bad: DataFrame


@contextmanager
def staged(
    spark: SparkSession,
    log: ImpressionLog,
    days: Sequence[str],
    schema: Schema,
    folder: str | None = None,
) -> Iterator[Staged]:
    """The validated rows of these days, kept in `folder` until the block ends. By default that is a
    temporary directory; a cluster needs one that all its machines reach."""
    rows = validated(log.rows(days), schema)
    if not log.is_parsed:
        yield Staged(good_rows(rows), quarantined(rows))
        return
    with tempfile.TemporaryDirectory(prefix="copse-staged-") as local:
        place = Directory(spark, folder or local).unfinished()
        try:
            yield _written(rows, place)
        finally:
            place.remove()


def _written(rows: DataFrame, to: Directory) -> Staged:
    """Write the rows, and return them as they were written."""
    state = F.when(F.col(PROBLEM).isNull(), _GOOD).otherwise(_BAD)
    rows.withColumn(_STATE, state).write.partitionBy(_STATE).parquet(to.path)
    kept = rows.schema.add(_STATE, "string")
    every = rows.sparkSession.read.schema(kept).parquet(to.path)
    good, bad = (every.where(F.col(_STATE) == each).drop(_STATE) for each in (_GOOD, _BAD))
    return Staged(good_rows(good), quarantined(bad))
