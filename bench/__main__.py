"""`python -m bench WHAT`: run a benchmark and print its results."""

import argparse
import sys

from bench.feed import start, visibility
from bench.index import ablation, categories, growth, hostile, match, parse, replan
from bench.nightly import backtest, impressions, night
from bench.papers import sweep
from bench.service import beside, http, overload, request, soak
from testkit import Failed

INDEX = (match, parse, ablation, growth, hostile, replan, categories)
FEED, SERVICE, NIGHTLY = (
    (visibility, start),
    (http, request, beside, overload, soak),
    (impressions, night, backtest),
)


def main() -> None:
    """Read the command line and run one benchmark."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    commands = parser.add_subparsers(dest="what", required=True, metavar="WHAT")
    for benchmark in (*INDEX, sweep, *FEED, *SERVICE, *NIGHTLY):
        benchmark.add_command(commands)
    arguments = parser.parse_args()
    try:
        arguments.run(arguments)
    except Failed as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
