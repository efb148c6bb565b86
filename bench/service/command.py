"""`python -m bench http|request|soak`."""

import argparse

from bench.service import http, request, soak


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Put the benchmarks of this folder on the command line."""
    for benchmark in (http, request, soak):
        benchmark.add_command(commands)
