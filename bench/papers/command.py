"""`python -m bench sweep`."""

import argparse

from bench.papers import sweep


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Put the benchmarks of this folder on the command line."""
    for benchmark in (sweep,):
        benchmark.add_command(commands)
