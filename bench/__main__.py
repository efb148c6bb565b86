"""`python -m bench WHAT`: run a benchmark and print its results."""

import argparse

from bench.feed import command as feed
from bench.index import command as index
from bench.nightly import command as nightly
from bench.papers import command as papers
from bench.service import command as service


def main() -> None:
    """Read the command line and run one benchmark."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    commands = parser.add_subparsers(dest="what", required=True, metavar="WHAT")
    for folder in (index, papers, feed, service, nightly):
        folder.add_commands(commands)
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    main()
