"""`python -m spark selectivity`: build the statistics of one day or more and activate them.

In:   IMPRESSIONS/dt=…/hour=…/*.jsonl, the catalogue and the active campaigns of the database
Out:  a version of the statistics in the database, active if it passes the gates;
      malformed rows in QUARANTINE/dt=…
For:  every worker of the service, which rearranges its index when the version becomes active
"""

import argparse
from typing import Any

from pyspark import StorageLevel

from campaigns.statistics.gates import Rules
from campaigns.statistics.service import KEPT_SAMPLES
from index import Index
from spark import database
from spark.commands.arguments import (
    add_database,
    add_log,
    add_session,
    open_log,
    positive,
    selected_days,
)
from spark.commands.quarantine import INCOMPLETE, add_quarantine, set_aside
from spark.database import Published
from spark.progress import Progress
from spark.session import SHORT_WORK, session, set_shuffle_partitions
from spark.statistics.document import Statistics, build_statistics
from spark.statistics.options import Options
from spark.transforms.malformed import malformed

_DEFAULTS = Options()
_RULES = Rules()


def add_to(commands: Any) -> None:
    parser = commands.add_parser(
        "selectivity", help="build the statistics of a day and activate them"
    )
    add_log(parser, 1, "--format")
    add_database(parser)
    add_session(parser)
    add_quarantine(parser)
    parser.add_argument(
        "--no-activate",
        action="store_true",
        help="store and judge the version, but do not activate it",
    )
    parser.add_argument(
        "--least-rows",
        type=positive,
        default=_RULES.least_rows,
        help="fewer rows close a gate (default: %(default)s)",
    )
    parser.add_argument(
        "--most-drift",
        type=float,
        default=_RULES.most_drift,
        help="an attribute with a higher PSI closes a gate (default: %(default)s)",
    )
    for name, type, default, what in (
        ("--values", positive, _DEFAULTS.values, "common values of an attribute"),
        ("--ranges", positive, _DEFAULTS.ranges, "ranges of a histogram"),
        ("--sample", positive, _DEFAULTS.sample, "sampled requests"),
    ):
        parser.add_argument(
            name, type=type, default=default, help=f"number of {what} (default: %(default)s)"
        )
    parser.add_argument(
        "--keep-samples",
        type=positive,
        default=KEPT_SAMPLES,
        help="number of versions that keep their sample (default: %(default)s)",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, count, store, judge, activate."""
    progress = Progress()
    progress.step("reading the catalogue and the active campaigns")
    schema = database.load_catalogue(options.database_url)
    index = database.load_index(options.database_url)
    amounts = Options(values=options.values, ranges=options.ranges, sample=options.sample)
    progress.step("starting Spark")
    with session(options.master, options.memory, java=SHORT_WORK) as spark:
        log = open_log(spark, options, schema)
        days = selected_days(options, log)
        tasks = set_shuffle_partitions(spark, log.size(days))
        # On disk: every task sends a whole sample, so this grows with the log.
        found = log.counted(days, options.sample, tasks).persist(StorageLevel.DISK_ONLY)
        made = build_statistics(found, schema, days, amounts, tasks, progress)
        try:
            _publish(options, made, index, days, progress)
        finally:  # also where a gate was closed: then the malformed rows may say why
            bad = malformed(found)
            is_complete = set_aside(spark, bad, options, log, made.problems, days)
            found.unpersist()
    return 0 if is_complete else INCOMPLETE


def _publish(
    options: argparse.Namespace,
    found: Statistics,
    index: Index,
    days: list[str],
    progress: Progress,
) -> None:
    progress.step("storing, judging and activating the version")
    done = database.publish(
        options.database_url,
        found.document,
        found.sample,
        index,
        Rules(
            least_rows=options.least_rows,
            least_sample=min(_RULES.least_sample, options.sample),
            most_drift=options.most_drift,
        ),
        not options.no_activate,
        options.keep_samples,
    )
    for finding in done.findings:
        if finding.attribute is None:
            progress.step(f"gate {finding.gate}: {finding.detail}")
    _print_result(done, found, days, progress)


def _print_result(done: Published, found: Statistics, days: list[str], progress: Progress) -> None:
    version = done.version
    if version.active:
        state = "is active" if done.changed else "is active, as before"
        after = f"inspect it: GET /v1/statistics/{version.id}"
    else:
        state, after = "is stored", f"next: POST /v1/statistics/{version.id}/activate"
    rows, which = found.document["rows"], ", ".join(days)
    took = f"{rows:,} rows of {which} in {progress.seconds:.1f} s"
    print(f"{took}: version {version.id} {state}; {after}")
