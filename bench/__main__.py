"""`python -m bench WHAT`: run a benchmark and print what it measured."""

import argparse

from bench import ablation, backtest, growth, impressions, match, nightly, parse, replan, sweep
from bench.feed import command as feed
from bench.hostile import command as hostile
from bench.http import command as http
from bench.request import command as request
from bench.soak import command as soak
from bench.start import command as start


def main() -> None:
    """Read the command line and run one benchmark."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    commands = parser.add_subparsers(dest="what", required=True, metavar="WHAT")
    parse.add_command(commands)
    match.add_command(commands)
    sweep.add_command(commands)
    ablation.add_command(commands)
    growth.add_command(commands)
    replan.add_command(commands)
    feed.add_command(commands)
    start.add_command(commands)
    http.add_command(commands)
    request.add_command(commands)
    soak.add_command(commands)
    hostile.add_command(commands)
    impressions.add_command(commands)
    nightly.add_command(commands)
    backtest.add_command(commands)
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    main()
