"""`python -m spark backtest`: do forecasts come true?

In:   days of a log; the last one is held out. Campaigns of the database, or a file of them
Out:  for how many campaigns the requests of the held-out day, all of them counted, lie within the
      bounds that were forecast from a sample of the days before
For:  who wants to know whether to trust a forecast
"""

import argparse
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from pyspark.sql import functions as F

from spark import database
from spark.commands.arguments import add_database, add_log, add_session, days_asked, positive
from spark.commands.forecast import campaigns_asked
from spark.directory import Directory
from spark.errors import JobError
from spark.forecast.estimates import asked_by_day, estimated
from spark.forecast.hits import as_requests, reach
from spark.impression_log import read_log
from spark.progress import Progress
from spark.session import fit_shuffles, session
from spark.statistics.options import Options
from spark.transforms.sample import sample
from spark.transforms.totals import daily
from spark.transforms.validation import good_rows, validated
from spark.weights import UNIT, WEIGHT

TARGET = 0.9


def add_to(commands: Any) -> None:
    parser = commands.add_parser("backtest", help="forecasts held against a day that came after")
    add_log(parser, days=7)
    add_database(parser)
    add_session(parser)
    parser.add_argument("--campaigns", type=Path, metavar="FILE", help="default: the active ones")
    parser.add_argument("--take", type=positive, default=200, help="so many of them")
    parser.add_argument("--sample", type=positive, default=Options().sample)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Forecast from the days before, count the day itself, compare."""
    progress = Progress()
    schema = database.catalogue(options.database_url)
    campaigns = campaigns_asked(options, schema)
    trees = [(each.id, each.tree) for each in campaigns]
    with session(options.master, options.memory) as spark:
        log = Directory(spark, options.impressions)
        held = str(options.date or date.fromisoformat((log.days() or ["2000-01-01"])[-1]))
        options.date = date.fromisoformat(held) - timedelta(days=1)
        days = days_asked(options, log)
        days_asked(argparse.Namespace(date=date.fromisoformat(held), days=1), log)
        fit_shuffles(spark, sum(log.child(f"dt={day}").size() for day in days))
        progress.step(f"sampling {days[0]} to {days[-1]}")
        before = good_rows(validated(read_log(spark, log.path, days, schema), schema))
        by_day = {row["day"]: row for row in daily(before).collect()}
        rows = sum(row["rows"] for row in by_day.values())
        requests = {day: row[WEIGHT] / UNIT for day, row in by_day.items()}
        some = sample(before, rows, options.sample).persist()
        progress.step(f"matching {min(rows, options.sample):,} sampled requests")
        sums = reach(some.repartition(2), trees, schema).persist()
        forecasts = estimated(spark, sums, campaigns, schema, asked_by_day(sums), requests)
        progress.step(f"matching every request of {held}")
        after = good_rows(validated(read_log(spark, log.path, [held], schema), schema))
        true = reach(as_requests(after), trees, schema).select("id", F.col("weight").alias("true"))
        compared = forecasts.where("NOT insufficient_data").orderBy("id").limit(options.take)
        joined = compared.join(true, "id", "left").fillna(0.0, ["true"]).orderBy("id").collect()
    if not joined:
        raise JobError("no campaign has enough hits in the sample to be held to its forecast")
    inside = sum(row["low"] <= row["true"] <= row["high"] for row in joined)
    widths = sorted(row["high"] / max(1, row["low"]) for row in joined)
    share = inside / len(joined)
    print(
        f"{inside} of {len(joined)} campaigns ({share:.1%}) had their requests of {held} within "
        f"the bounds forecast from {len(days)} days ({rows:,} rows, {min(rows, options.sample):,} "
        f"sampled); high is {widths[len(widths) // 2]:.2f} times low in the median; "
        f"{progress.seconds:.1f} s"
    )
    return 0 if share >= TARGET else 1
