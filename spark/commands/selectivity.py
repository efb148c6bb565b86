"""`python -m spark selectivity`: the statistics of a day (or some), into the database and on.

In:   IMPRESSIONS/dt=…/hour=…/*.jsonl, the catalogue and the active campaigns of the database
Out:  a version of the statistics in the database, active if the gates let it pass;
      malformed rows in QUARANTINE/dt=…
For:  every worker of the service, which rearranges its index when the version becomes active
"""

import argparse
import sys
from collections.abc import Mapping
from functools import partial
from typing import Any

from campaigns.statistics.document import for_index
from campaigns.statistics.gates import Rules
from campaigns.statistics.service import KEPT_SAMPLES
from index import Index
from spark import database
from spark.commands.arguments import add_database, add_log, add_session, days_asked, positive
from spark.database import Activated
from spark.directory import Directory
from spark.impression_log import read_log
from spark.progress import Progress
from spark.quarantine import FOLDER, set_aside
from spark.session import fit_shuffles, session
from spark.statistics.document import Figures, figures
from spark.statistics.options import Options
from spark.transforms.pairs import Pair

_DEFAULTS = Options()
_RULES = Rules()


def add_to(commands: Any) -> None:
    parser = commands.add_parser("selectivity", help="statistics of the log, into the database")
    add_log(parser)
    add_database(parser)
    add_session(parser)
    parser.add_argument("--quarantine", metavar="DIR", help=f"default: {FOLDER} beside the days")
    parser.add_argument(
        "--no-activate",
        action="store_true",
        help="keep and judge the version, and leave it at that",
    )
    parser.add_argument(
        "--least-rows", type=positive, default=_RULES.least_rows, help="fewer do not steer"
    )
    parser.add_argument(
        "--most-drift",
        type=float,
        default=_RULES.most_drift,
        help="the PSI of an attribute that closes the gate (default: %(default)s)",
    )
    parser.add_argument("--values", type=positive, default=_DEFAULTS.values)
    parser.add_argument("--ranges", type=positive, default=_DEFAULTS.ranges)
    parser.add_argument("--pairs", type=int, default=_DEFAULTS.pairs)
    parser.add_argument("--sample", type=positive, default=_DEFAULTS.sample)
    parser.add_argument(
        "--keep-samples",
        type=positive,
        default=KEPT_SAMPLES,
        help="of so many versions the sampled requests stay (default: %(default)s)",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, count, keep, judge, activate."""
    progress = Progress()
    url = options.database_url
    progress.step("reading the catalogue and the active campaigns")
    schema = database.catalogue(url)
    index = database.active_campaigns(url)
    amounts = Options(
        values=options.values, ranges=options.ranges, pairs=options.pairs, sample=options.sample
    )
    progress.step("starting Spark")
    with session(options.master, options.memory) as spark:
        log = Directory(spark, options.impressions)
        days = days_asked(options, log)
        slices = fit_shuffles(spark, sum(log.child(f"dt={day}").size() for day in days))
        lines = read_log(spark, log.path, days, schema)
        quarantine = options.quarantine or log.child(FOLDER).path
        choose = partial(used_pairs, index, most=amounts.pairs)
        found = figures(lines, schema, days, choose, amounts, slices, progress)
        aside = {day: sum(some.values()) for day, some in found.problems.items()}
        told = set_aside(spark, found.bad, quarantine, days, aside)
    _tell_problems(found, told)
    progress.step("keeping, judging and activating the version")
    rules = Rules(least_rows=options.least_rows, most_drift=options.most_drift)
    activate, samples = not options.no_activate, options.keep_samples
    done = database.publish(url, found.document, found.sample, index, rules, activate, samples)
    for finding in done.findings:
        if finding.attribute is None:
            progress.step(f"gate {finding.gate}: {finding.detail}")
    _tell_end(done, found, days, progress)
    return 0


def used_pairs(index: Index, attributes: Mapping[str, Any], most: int) -> list[Pair]:
    """The pairs of attributes that the index uses together most, each once, when it is arranged by
    what was just counted: they depend on the log and the campaigns, not on what is active."""
    if not most or not len(index):
        return []
    index.use_statistics(for_index({"attributes": attributes}))
    found: list[Pair] = []
    for first, second, _ in index.pairs(4 * most):
        fits = first != second and first in attributes and second in attributes
        if fits and (first, second) not in found and (second, first) not in found:
            found.append((first, second))
    return found[:most]


def _tell_end(done: Activated, found: Figures, days: list[str], progress: Progress) -> None:
    version = done.version
    if version.active:
        state = "is active" if done.news else "is active, as before"
        after = f"see it: GET /v1/statistics/{version.id}"
    else:
        state, after = "is kept", f"next: POST /v1/statistics/{version.id}/activate"
    rows, which = found.document["rows"], ", ".join(days)
    took = f"{rows:,} rows of {which} in {progress.seconds:.1f} s"
    print(f"{took}: version {version.id} {state}; {after}")


def _tell_problems(found: Figures, where: list[str]) -> None:
    for day, some in sorted(found.problems.items()):
        told = ", ".join(f"{count:,} {problem}" for problem, count in sorted(some.items()))
        print(f"{day}: set aside {told}", file=sys.stderr)
    for path in where:
        print(f"they are in {path}", file=sys.stderr)
