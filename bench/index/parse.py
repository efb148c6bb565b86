"""How many targetings of the ads workload are parsed and checked per second, on one core.

They have eight predicates on average. Reported is CPU time, since the machine may be busy with
other work.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable

from index.language import normalize, predicate_count, to_json
from index.language.parser import parse
from testkit.arguments import positive
from testkit.workloads import make


def rates(step: Callable[..., object], inputs: list[object], rounds: int) -> list[float]:
    """Inputs per second of CPU time, per round."""
    found = []
    for _ in range(rounds):
        started = time.process_time()
        for one in inputs:
            step(one)
        found.append(len(inputs) / (time.process_time() - started))
    return found


def run(arguments: argparse.Namespace) -> None:
    """Measure and print."""
    workload = make("ads")
    schema, texts = workload.schema, workload.texts(arguments.n)
    trees = [parse(text, schema) for text in texts]
    steps: dict[str, tuple[Callable[..., object], list[object]]] = {
        "parse_and_check": (lambda text: parse(text, schema), [*texts]),
        "normalize": (normalize, [*trees]),
        "to_json": (to_json, [*trees]),
    }
    predicates = statistics.fmean(map(predicate_count, trees))
    result: dict[str, object] = {"n": len(texts), "predicates": round(predicates, 1)}
    for name, (step, inputs) in steps.items():
        found = rates(step, inputs, arguments.rounds)
        result[f"{name}_per_s_median"] = round(statistics.median(found))
        result[f"{name}_per_s_lowest"] = round(min(found))
    if arguments.json:
        print(json.dumps(result))
        return
    for name, value in result.items():
        print(f"{name:>28}  {value:,}")


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Put `parse` on the command line."""
    command = commands.add_parser("parse", help="expressions parsed and checked per second")
    command.add_argument("--n", type=positive, default=2000, help="expressions")
    command.add_argument("--rounds", type=positive, default=7)
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.set_defaults(run=run)
