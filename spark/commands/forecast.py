"""`python -m spark forecast`: the requests a day that each campaign would match.

In:   the samples of the statistics of the last seven days, or IMPRESSIONS/dt=…; the active
      campaigns of the database, or a file of proposed ones (JSON lines with `targeting`, and a
      `name` or an `external_id`)
Out:  a row for each campaign in OUT, as JSON lines or Parquet, and a summary
For:  people who plan campaigns. Requests matched, not won: that depends on the competition
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from campaigns.statistics.estimate import Sums
from campaigns.statistics.relaxation import MOST_DROPPED
from campaigns.statistics.sample import Sampled
from index import Schema
from spark import database
from spark.commands.arguments import (
    add_database,
    add_log,
    add_session,
    open_log,
    selected_days,
)
from spark.errors import JobError
from spark.forecast.campaigns import CampaignTree, read_proposed
from spark.forecast.estimates import asked_by_day, estimate_campaigns
from spark.forecast.hits import count_hits
from spark.progress import Progress
from spark.session import session, set_shuffle_partitions
from spark.transforms.requests import as_requests, good_rows
from spark.weights import UNIT

FORMATS = ("json", "parquet")
_SHOWN = 10


def add_to(commands: Any) -> None:
    parser = commands.add_parser(
        "forecast", help="forecast the requests a day that campaigns would match"
    )
    add_database(parser)
    add_session(parser)
    add_log(parser, required=False)
    parser.add_argument(
        "--campaigns",
        type=Path,
        metavar="FILE",
        help="a file of proposed campaigns (default: the active campaigns)",
    )
    parser.add_argument(
        "--without",
        type=_predicates,
        default=MOST_DROPPED,
        metavar="N",
        help="also forecast each campaign without each of its first N predicates, at most "
        f"{MOST_DROPPED} (default: %(default)s; 0 is faster)",
    )
    parser.add_argument("--out", metavar="DIR", help="directory for the forecasts, any Hadoop path")
    parser.add_argument(
        "--format", choices=FORMATS, default="json", help="of the files (default: %(default)s)"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Match the requests, estimate, write."""
    progress = Progress()
    schema = database.load_catalogue(options.database_url)
    campaigns = selected_campaigns(options, schema)
    if not campaigns:
        raise JobError("no campaigns to forecast")
    progress.step(f"{len(campaigns):,} campaigns; starting Spark")
    with session(options.master, options.memory) as spark:
        requests, by_day = _requests(spark, options, schema)
        progress.step("matching the requests")
        trees = [(each.id, each.tree) for each in campaigns]
        sums = count_hits(requests, trees, schema, options.without).persist()
        asked = asked_by_day(sums)
        if not asked:
            raise JobError("no request fits the catalogue")
        totals = by_day or {day: each.weight for day, each in asked.items()}
        found = estimate_campaigns(spark, sums, campaigns, schema, asked, totals, options.without)
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


def selected_campaigns(options: argparse.Namespace, schema: Schema) -> list[CampaignTree]:
    """The campaigns of the file, or the active campaigns."""
    if options.campaigns is None:
        return database.load_campaigns(options.database_url)
    return read_proposed(options.campaigns, schema)


def _requests(
    spark: SparkSession, options: argparse.Namespace, schema: Schema
) -> tuple[DataFrame, Mapping[str, float]]:
    """The requests to match, and the requests of each day where the statistics have them."""
    if options.impressions or options.table:
        log = open_log(spark, options, schema)
        days = selected_days(options, log)
        set_shuffle_partitions(spark, log.size(days))
        return as_requests(good_rows(log.checked(days))), {}
    known = database.recent_statistics(options.database_url)
    if known is None:
        raise JobError(
            "no statistics are active, so there is no sample to match: "
            "run `python -m spark selectivity` first, or pass a log with --impressions"
        )
    return sampled_requests(spark, known.sample()), known.requests_by_day


def sampled_requests(spark: SparkSession, sample: Sequence[Sampled]) -> DataFrame:
    """The requests of a sample, spread over the tasks."""
    rows = [
        (
            each.day,
            round(each.weight * UNIT),
            each.attributes.decode(),
            orjson.dumps(each.builtins).decode(),
        )
        for each in sample
    ]
    frame = spark.createDataFrame(
        rows, "day string, weight bigint, attributes string, builtins string"
    )
    return frame.repartition(set_shuffle_partitions(spark, 0))


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
        f"{found.count():,} campaigns ({few:,} with insufficient data), from {rows:,} requests of "
        f"{len(totals)} days, {mean:,.0f} requests a day, in {progress.seconds:.1f} s; "
        f"matched, not won; {f'all are in {out}' if out else 'next: --out DIR writes them all'}"
    )
