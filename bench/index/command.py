"""`python -m bench parse|match|ablation|categories|growth|replan|hostile`."""

import argparse

from bench.index import ablation, categories, growth, hostile, match, parse, replan


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Put the benchmarks of this folder on the command line."""
    for benchmark in (parse, match, ablation, categories, growth, replan, hostile):
        benchmark.add_command(commands)
