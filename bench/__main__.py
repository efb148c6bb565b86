"""`python -m bench WHAT`: run a benchmark and print its results.

Only the module of the benchmark is imported: some need Spark, or a database's client, which the
others run without.
"""

import argparse
import importlib
import sys

from testkit import Failed

MODULES = {
    "match": "bench.index.match",
    "parse": "bench.index.parse",
    "event": "bench.index.event",
    "ablation": "bench.index.ablation",
    "growth": "bench.index.growth",
    "hostile": "bench.index.hostile",
    "replan": "bench.index.replan",
    "categories": "bench.index.categories",
    "covers": "bench.index.covers",
    "sweep": "bench.papers.sweep",
    "papers": "bench.papers.command",
    "routing": "bench.routing.command",
    "calls": "bench.papers.calls",
    "feed": "bench.feed.visibility",
    "start": "bench.feed.start",
    "http": "bench.service.http",
    "account": "bench.service.account",
    "request": "bench.service.request",
    "beside": "bench.service.beside",
    "delivery": "bench.service.delivery",
    "overload": "bench.service.overload",
    "soak": "bench.service.soak",
    "impressions": "bench.nightly.impressions",
    "job": "bench.nightly.job",
    "nightly": "bench.nightly.night",
    "backtest": "bench.nightly.backtest",
    "coverage": "bench.nightly.coverage",
}


def main() -> None:
    """Read the command line and run one benchmark."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    commands = parser.add_subparsers(dest="what", required=True, metavar="WHAT")
    asked = [word for word in sys.argv[1:2] if word in MODULES]
    for name in asked or MODULES:
        importlib.import_module(MODULES[name]).add_command(commands)
    arguments = parser.parse_args()
    try:
        arguments.run(arguments)
    except Failed as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
