"""`python -m spark selectivity`: build the statistics of one day or more and activate them.

In:   IMPRESSIONS/dt=…/hour=…/*.jsonl, the catalogue and the active campaigns of the database
Out:  a version of the statistics in the database, active if it passes the gates;
      malformed rows in QUARANTINE/dt=…
For:  every worker of the service, which rearranges its index when the version becomes active
"""

import argparse
import sys
from typing import Any

from campaigns.statistics.gates import Rules
from campaigns.statistics.service import KEPT_SAMPLES
from spark import database
from spark.commands.arguments import add_database, add_log, add_session, positive, selected_days
from spark.database import Published
from spark.directory import Directory
from spark.impression_log import read_log
from spark.progress import Progress
from spark.quarantine import FOLDER, write_quarantine
from spark.session import session, set_shuffle_partitions
from spark.statistics.document import Statistics, build_statistics
from spark.statistics.options import Options

_DEFAULTS = Options()
_RULES = Rules()


def add_to(commands: Any) -> None:
    parser = commands.add_parser(
        "selectivity", help="build the statistics of a day and activate them"
    )
    add_log(parser)
    add_database(parser)
    add_session(parser)
    parser.add_argument(
        "--quarantine",
        metavar="DIR",
        help=f"directory for malformed rows (default: {FOLDER} in the log)",
    )
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
    url = options.database_url
    progress.step("reading the catalogue and the active campaigns")
    schema = database.load_catalogue(url)
    index = database.load_index(url)
    amounts = Options(values=options.values, ranges=options.ranges, sample=options.sample)
    progress.step("starting Spark")
    with session(options.master, options.memory) as spark:
        log = Directory(spark, options.impressions)
        days = selected_days(options, log)
        slices = set_shuffle_partitions(spark, log.size(days))
        lines = read_log(spark, log.path, days, schema)
        quarantine = options.quarantine or log.child(FOLDER).path
        found = build_statistics(lines, schema, days, amounts, slices, progress)
        bad = {day: sum(some.values()) for day, some in found.problems.items()}
        written = write_quarantine(spark, found.bad, quarantine, days, bad)
    _print_problems(found, written)
    progress.step("storing, judging and activating the version")
    rules = Rules(least_rows=options.least_rows, most_drift=options.most_drift)
    activate, samples = not options.no_activate, options.keep_samples
    done = database.publish(url, found.document, found.sample, index, rules, activate, samples)
    for finding in done.findings:
        if finding.attribute is None:
            progress.step(f"gate {finding.gate}: {finding.detail}")
    _print_result(done, found, days, progress)
    return 0


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


def _print_problems(found: Statistics, directories: list[str]) -> None:
    for day, some in sorted(found.problems.items()):
        counts = ", ".join(f"{count:,} {problem}" for problem, count in sorted(some.items()))
        print(f"{day}: malformed rows: {counts}", file=sys.stderr)
    for path in directories:
        print(f"malformed rows are in {path}", file=sys.stderr)
