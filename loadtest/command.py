"""`python -m loadtest`: one run, a report, and exit status 1 if something was not as it must be."""

import argparse
import sys
from pathlib import Path

from loadtest import report
from loadtest.driving import LocustFailed
from loadtest.plan import Plan
from loadtest.running import run
from loadtest.scenarios import SCENARIOS
from loadtest.summary import summary
from testkit.arguments import positive
from testkit.progress import Progress
from testkit.servers import ServerFailed
from testkit.service import NotServing
from testkit.wrk import NoWrk


def main() -> int:
    """Run what the command line says."""
    plan = plan_of(_parser().parse_args())
    try:
        figures = run(plan, Progress())
    except (ServerFailed, NotServing, NoWrk, LocustFailed) as error:
        print(error, file=sys.stderr)
        return 1
    folder = report.write(figures)
    print(summary(figures))
    print(f"{folder / report.PAGE} has the plots")
    return 1 if figures.problems else 0


def plan_of(options: argparse.Namespace) -> Plan:
    return Plan(
        scenario_name=options.scenario,
        campaigns=options.campaigns,
        users=options.users,
        seconds=options.seconds,
        workers=options.workers,
        processes=options.processes,
        rate=options.rate,
        writes=options.writes,
        seed=options.seed,
        wrk_seconds=options.wrk_seconds,
        reports=options.reports,
    )


def _parser() -> argparse.ArgumentParser:
    plan = Plan()
    parser = argparse.ArgumentParser(prog="python -m loadtest", description=__doc__)
    parser.add_argument("--scenario", choices=list(SCENARIOS), default=plan.scenario_name)
    parser.add_argument("--campaigns", type=positive, default=plan.campaigns)
    parser.add_argument("--users", type=positive, default=plan.users)
    parser.add_argument("--seconds", type=positive, default=plan.seconds)
    parser.add_argument("--workers", type=positive, default=plan.workers, help="of the service")
    parser.add_argument("--processes", type=positive, default=plan.processes, help="of Locust")
    parser.add_argument(
        "--rate", type=float, help="matches a second, instead of as many as it takes"
    )
    parser.add_argument("--writes", type=float, help="of campaigns, a second, at the most")
    parser.add_argument("--seed", type=int, default=plan.seed)
    parser.add_argument("--wrk-seconds", type=int, default=plan.wrk_seconds, help="0: without wrk")
    parser.add_argument("--reports", type=Path, default=plan.reports)
    return parser
