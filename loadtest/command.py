"""`python -m loadtest`: one run and a report; the exit status is 1 if the run failed."""

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path

from loadtest import report
from loadtest.plan import Plan
from loadtest.run import run
from loadtest.scenarios import SCENARIOS
from testkit import Failed
from testkit.arguments import positive
from testkit.progress import Progress


def main() -> int:
    """Run the plan of the command line."""
    plan = Plan(**vars(_parser().parse_args()))
    folder = plan.reports / f"{plan.scenario_name}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    folder.mkdir(parents=True)
    try:
        figures = run(plan, folder, Progress())
    except Failed as error:
        print(error, file=sys.stderr)
        return 1
    report.write(figures, folder)
    print(report.summary(figures))
    print(f"{folder / report.PAGE} has plots over time")
    return 1 if figures.problems else 0


def _parser() -> argparse.ArgumentParser:
    plan = Plan()
    parser = argparse.ArgumentParser(prog="python -m loadtest", description=__doc__)
    parser.add_argument(
        "--scenario", dest="scenario_name", choices=list(SCENARIOS), default=plan.scenario_name
    )
    parser.add_argument("--campaigns", type=positive, default=plan.campaigns)
    parser.add_argument("--users", type=positive, default=plan.users)
    parser.add_argument("--seconds", type=positive, default=plan.seconds)
    parser.add_argument(
        "--workers", type=positive, default=plan.workers, help="processes of the service"
    )
    parser.add_argument(
        "--processes", type=positive, default=plan.processes, help="processes of Locust"
    )
    parser.add_argument("--rate", type=float, help="matches per second (default: no limit)")
    parser.add_argument("--writes", type=float, help="most campaign writes per second")
    parser.add_argument("--seed", type=int, default=plan.seed)
    parser.add_argument("--wrk-seconds", type=int, default=plan.wrk_seconds, help="0 skips wrk")
    parser.add_argument("--reports", type=Path, default=plan.reports)
    return parser
