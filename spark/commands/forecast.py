"""`python -m spark forecast`: how many requests a day each campaign would match.

In:   the sample of the active statistics, or IMPRESSIONS/dt=…; the active campaigns of the
      database, or a file of proposed ones (JSON lines with `targeting`, and a `name` or an
      `external_id`)
Out:  a row for each, into OUT as JSON lines or Parquet, and a summary
For:  who plans campaigns. Matched, not won: how many it gets depends on all that compete
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from campaigns.statistics.estimate import Sums
from campaigns.statistics.relaxation import MOST_DROPPED
from campaigns.statistics.sample import Sampled, unpack
from index import Schema
from spark import database
from spark.commands.arguments import add_database, add_days, add_session, days_asked
from spark.directory import Directory
from spark.errors import JobError
from spark.forecast.campaigns import Expression, proposed
from spark.forecast.estimates import asked_by_day, estimated
from spark.forecast.hits import as_requests, reach
from spark.impression_log import read_log
from spark.progress import Progress
from spark.session import fit_shuffles, session
from spark.transforms.validation import good_rows, validated
from spark.weights import UNIT

FORMATS = ("json", "parquet")
_SHOWN = 10


def add_to(commands: Any) -> None:
    parser = commands.add_parser("forecast", help="the requests a day that campaigns would match")
    add_database(parser)
    add_session(parser)
    parser.add_argument(
        "--impressions", metavar="DIR", help="a log to ask about (default: the statistics' sample)"
    )
    add_days(parser)
    parser.add_argument(
        "--campaigns", type=Path, metavar="FILE", help="proposed ones (default: the active ones)"
    )
    parser.add_argument(
        "--without",
        type=_predicates,
        default=MOST_DROPPED,
        metavar="N",
        help="leave out each of the first N predicates of a campaign in turn, at most "
        f"{MOST_DROPPED}, and say what that would bring (default: %(default)s; 0: none, faster)",
    )
    parser.add_argument("--out", metavar="DIR", help="where the rows go, any path of Hadoop's")
    parser.add_argument("--format", choices=FORMATS, default="json")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Ask, estimate, write."""
    progress = Progress()
    schema = database.catalogue(options.database_url)
    campaigns = campaigns_asked(options, schema)
    if not campaigns:
        raise JobError("there are no campaigns to forecast")
    progress.step(f"{len(campaigns):,} campaigns; starting Spark")
    with session(options.master, options.memory) as spark:
        requests, by_day = _requests(spark, options, schema)
        progress.step("matching the requests")
        trees = [(each.id, each.tree) for each in campaigns]
        sums = reach(requests, trees, schema, options.without).persist()
        asked = asked_by_day(sums)
        if not asked:
            raise JobError("none of the requests fits the catalogue")
        totals = by_day or {day: each.weight for day, each in asked.items()}
        found = estimated(spark, sums, campaigns, schema, asked, totals, options.without)
        found = found.persist()
        if options.out:
            found.write.mode("overwrite").format(options.format).save(options.out)
        _summarise(found, asked, totals, options.out, progress)
    return 0


def _predicates(text: str) -> int:
    value = int(text)
    if not 0 <= value <= MOST_DROPPED:
        raise argparse.ArgumentTypeError(f"{value} is not from 0 to {MOST_DROPPED}")
    return value


def campaigns_asked(options: argparse.Namespace, schema: Schema) -> list[Expression]:
    """Those of the file, or the active ones."""
    if options.campaigns is None:
        return database.active_trees(options.database_url)
    return proposed(options.campaigns, schema)


def _requests(
    spark: SparkSession, options: argparse.Namespace, schema: Schema
) -> tuple[DataFrame, Mapping[str, float]]:
    """What is asked about, and how many requests each day had, if that is known beforehand."""
    if options.impressions:
        log = Directory(spark, options.impressions)
        days = days_asked(options, log)
        fit_shuffles(spark, sum(log.child(f"dt={day}").size() for day in days))
        rows = validated(read_log(spark, log.path, days, schema), schema)
        return as_requests(good_rows(rows)), {}
    known = database.steering(options.database_url)
    if known is None:
        raise JobError(
            "no statistics are active, so there is no sample: "
            "run `python -m spark selectivity` first, or name a log with --impressions"
        )
    _, document, sample = known
    fit_shuffles(spark, 0)
    return sampled_requests(spark, unpack(sample)), document["requests_by_day"]


def sampled_requests(spark: SparkSession, sample: Sequence[Sampled]) -> DataFrame:
    """The requests of a sample, spread over the tasks."""
    rows = [
        (each.day, round(each.weight * UNIT), each.attributes.decode(), _text(each.builtins))
        for each in sample
    ]
    frame = spark.createDataFrame(
        rows, "day string, weight bigint, attributes string, builtins string"
    )
    return frame.repartition(spark.sparkContext.defaultParallelism)


def _text(builtins: Mapping[str, Any]) -> str:
    return orjson.dumps(builtins).decode()


def _summarise(
    found: DataFrame,
    asked: Mapping[str, Sums],
    totals: Mapping[str, float],
    out: str | None,
    progress: Progress,
) -> None:
    rows = sum(each.count for each in asked.values())
    mean = sum(totals.values()) / len(totals)
    print(f"{'low':>12} {'high':>12} {'hits':>9}  campaign")
    for row in found.orderBy(F.col("high").desc(), "id").limit(_SHOWN).collect():
        notes = ["insufficient data"] if row["insufficient_data"] else []
        if row["nearest_miss"] is not None:
            notes.append(row["nearest_miss"]["words"])
        note = f"  ({'; '.join(notes)})" if notes else ""
        print(f"{row['low']:>12,} {row['high']:>12,} {row['hits']:>9,}  {row['name']}{note}")
    few = found.where("insufficient_data").count()
    print(
        f"{found.count():,} campaigns ({few:,} with insufficient data) by {rows:,} requests of "
        f"{len(totals)} days, {mean:,.0f} requests a day, in {progress.seconds:.1f} s; "
        f"matched, not won; {f'all are in {out}' if out else 'next: --out DIR keeps them all'}"
    )
    sys.stdout.flush()
