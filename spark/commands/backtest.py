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

from campaigns.statistics.sample import pack, unpack
from spark import database
from spark.columns import counted_attributes
from spark.commands.arguments import (
    add_database,
    add_log,
    add_session,
    open_log,
    positive,
    selected_days,
)
from spark.commands.forecast import sampled_requests, selected_campaigns
from spark.errors import JobError
from spark.forecast.estimates import asked_by_day, estimate_campaigns
from spark.forecast.hits import count_hits
from spark.progress import Progress
from spark.session import session, set_shuffle_partitions
from spark.statistics.options import Options
from spark.transforms.requests import as_requests, good_rows
from spark.transforms.summary import added_up, summary
from spark.weights import UNIT

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
        tasks = set_shuffle_partitions(spark, log.size(days))
        progress.step(f"sampling {days[0]} to {days[-1]}")
        counted = counted_attributes(schema)
        before = log.counted(days, options.sample, tasks)
        added = added_up(before, counted, 1, options.sample, tasks)
        seen = summary(added, counted, 1, options.sample, tasks)
        rows = sum(day.rows for day in seen.days.values())
        requests = {day: each.weight / UNIT for day, each in seen.days.items()}
        progress.step(f"matching {len(seen.sample):,} sampled requests")
        some = sampled_requests(spark, unpack(pack(seen.sample)))
        sums = count_hits(some, trees, schema).persist()
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
        f"the bounds forecast from {len(days)} days ({rows:,} rows, "
        f"{len(seen.sample):,} sampled); high is {widths[len(widths) // 2]:.2f} times low in the "
        f"median; {progress.seconds:.1f} s"
    )
    return 0 if share >= TARGET else 1
