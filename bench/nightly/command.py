"""`python -m bench impressions|nightly|backtest`."""

import argparse

from bench.nightly import backtest, impressions, night


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Put the benchmarks of this folder on the command line."""
    for benchmark in (impressions, night, backtest):
        benchmark.add_command(commands)
