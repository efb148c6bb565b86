"""`python -m spark backtest`: compare forecasts with the day that followed.

In:   days of the log, of which the last is held out; campaigns of the database or of a file
Out:  the number of campaigns whose requests on the held-out day, counted in full, lie within the
      bounds forecast from a sample of the days before
For:  people who want to know how far to trust a forecast
"""

import argparse
from datetime import date
from pathlib import Path
from typing import Any

from spark import database
from spark.commands.arguments import (
    add_database,
    add_log,
    add_session,
    open_log,
    positive,
    selected_days,
)
from spark.commands.forecast import selected_campaigns
from spark.errors import JobError
from spark.forecast.estimates import asked_by_day, estimate_campaigns
from spark.forecast.hits import count_hits
from spark.progress import Progress
from spark.session import session, set_shuffle_partitions
from spark.statistics.options import Options
from spark.transforms.requests import as_requests, good_rows
from spark.transforms.sample import sample
from spark.transforms.totals import totals
from spark.weights import UNIT, WEIGHT

TARGET = 0.9


def add_to(commands: Any) -> None:
    parser = commands.add_parser("backtest", help="compare forecasts with the day that followed")
    add_log(parser, 7, "--format")
    add_database(parser)
    add_session(parser)
    parser.add_argument(
        "--campaigns", type=Path, metavar="FILE", help="a file of campaigns (default: the active)"
    )
    parser.add_argument(
        "--take",
        type=positive,
        default=200,
        help="number of campaigns to compare (default: %(default)s)",
    )
    parser.add_argument(
        "--sample",
        type=positive,
        default=Options().sample,
        help="number of requests to forecast from (default: %(default)s)",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Forecast from a sample of the days before, count the held-out day, compare."""
    progress = Progress()
    schema = database.load_catalogue(options.database_url)
    campaigns = selected_campaigns(options, schema)
    trees = [(each.id, each.tree) for each in campaigns]
    with session(options.master, options.memory) as spark:
        log = open_log(spark, options, schema)
        last = options.date or next((date.fromisoformat(day) for day in reversed(log.days())), None)
        window = argparse.Namespace(date=last, days=options.days + 1)
        *days, held = selected_days(window, log)
        set_shuffle_partitions(spark, log.size(days))
        progress.step(f"sampling {days[0]} to {days[-1]}")
        before = log.counted(days, options.sample).persist()
        by_day = {row["day"]: row for row in totals(before).collect()}
        rows = sum(row["rows"] for row in by_day.values())
        requests = {day: row[WEIGHT] / UNIT for day, row in by_day.items()}
        some = sample(before, options.sample).persist()
        progress.step(f"matching {min(rows, options.sample):,} sampled requests")
        sums = count_hits(some.repartition(2), trees, schema).persist()
        forecasts = estimate_campaigns(spark, sums, campaigns, schema, asked_by_day(sums), requests)
        progress.step(f"matching every request of {held}")
        after = good_rows(log.checked([held]))
        true = count_hits(as_requests(after), trees, schema).selectExpr("id", "weight AS true")
        compared = forecasts.where("NOT insufficient_data").orderBy("id").limit(options.take)
        joined = compared.join(true, "id", "left").fillna(0.0, ["true"]).orderBy("id").collect()
    if not joined:
        raise JobError("no campaign has enough hits in the sample for a forecast")
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
