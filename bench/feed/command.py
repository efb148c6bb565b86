"""`python -m bench feed|start`."""

import argparse

from bench.feed import start, visibility


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Put the benchmarks of this folder on the command line."""
    for benchmark in (visibility, start):
        benchmark.add_command(commands)
