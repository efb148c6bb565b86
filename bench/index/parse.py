"""How many expressions of eight predicates are parsed and checked per second, on one core.

The expressions all differ, are seeded, and use every kind of operator. Reported is CPU time, since
the machine may be busy with other work.
"""

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Callable

from index.language import Attribute, Schema, normalize, predicate_count, to_json
from index.language.parser import parse

PREDICATES = 8

SCHEMA = Schema(
    [
        Attribute("country", "string"),
        Attribute("device.type", "string"),
        Attribute("site.domain", "string"),
        Attribute("age", "int"),
        Attribute("hour", "int"),
        Attribute("floor", "float"),
        Attribute("vip", "bool"),
        Attribute("segments", "int list"),
        Attribute("categories", "string list"),
    ]
)


def expressions(n: int, seed: int = 1) -> list[str]:
    """Texts with eight predicates each: a conjunction with an `or` and a `not` inside."""
    rng = random.Random(seed)
    kinds: list[Callable[[], str]] = [
        lambda: f"country in ('{rng.choice('ABC')}{rng.choice('XYZ')}', 'US', 'CA')",
        lambda: f"device.type = '{rng.choice(['phone', 'tablet', 'tv'])}'",
        lambda: f"site.domain ends with '.{rng.randrange(1000)}.news'",
        lambda: f"age between {rng.randrange(30)} and {30 + rng.randrange(60)}",
        lambda: f"hour >= {rng.randrange(24)}",
        lambda: f"floor < {rng.randrange(1000) / 100}",
        lambda: "vip",
        lambda: f"segments any of ({rng.randrange(10**6)}, {rng.randrange(10**6)})",
        lambda: f"categories none of ('IAB{rng.randrange(26)}')",
    ]
    texts = []
    for _ in range(n):
        a, b, c, d, e, f, g, h = (rng.choice(kinds)() for _ in range(PREDICATES))
        texts.append(f"{a} and {b} and ({c} or {d}) and not ({e} or {f}) and {g} and {h}")
    return texts


def rate(step: Callable[[object], object], inputs: list[object], rounds: int) -> list[float]:
    """Inputs per second of CPU time, per round."""
    rates = []
    for round_number in range(rounds):
        started = time.process_time()
        for one in inputs:
            step(one)
        rates.append(len(inputs) / (time.process_time() - started))
        if sys.stderr.isatty():
            print(f"\r{round_number + 1}/{rounds} rounds", end="", file=sys.stderr)
    return rates


def run(arguments: argparse.Namespace) -> None:
    """Measure and print."""
    texts = expressions(arguments.n)
    trees = [parse(text, SCHEMA) for text in texts]
    assert all(predicate_count(tree) == PREDICATES for tree in trees)
    steps: dict[str, tuple[Callable[..., object], list[object]]] = {
        "parse_and_check": (lambda text: parse(text, SCHEMA), list(texts)),
        "normalize": (normalize, list[object](trees)),
        "to_json": (to_json, list[object](trees)),
    }
    result: dict[str, object] = {"n": len(texts), "predicates": PREDICATES}
    for name, (step, inputs) in steps.items():
        rates = rate(step, inputs, arguments.rounds)
        result[f"{name}_per_s_median"] = round(statistics.median(rates))
        result[f"{name}_per_s_lowest"] = round(min(rates))
    if sys.stderr.isatty():
        print(file=sys.stderr)
    if arguments.json:
        print(json.dumps(result))
        return
    for name, value in result.items():
        print(f"{name:>28}  {value:,}")


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Put `parse` on the command line."""
    command = commands.add_parser("parse", help="expressions parsed and checked per second")
    command.add_argument("--n", type=int, default=2000, help="different expressions")
    command.add_argument("--rounds", type=int, default=7)
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.set_defaults(run=run)
