"""How long each engine takes to find the expressions that match an event.

It prints a table, or one JSON object per engine with `--json`. `measure.py` describes the method.
If two engines disagree, the first difference is reported and the exit status is 1.
"""

import argparse
import json

from bench.index import engines
from bench.index.measure import Result, measure
from testkit.arguments import positive
from testkit.markdown import table
from testkit.progress import Progress
from testkit.workloads import NAMES, make

FIELDS = (
    "engine",
    "workload",
    "n",
    "build_s",
    "insert_us_median",
    "insert_us_p99",
    "bytes_per_expression",
    "match_us_median",
    "match_us_p99",
    "matches_per_event",
    "ratio_to_flat",
)
"""The guaranteed fields; others may follow. All but the first two are null if skipped."""

SHOWN = (*FIELDS, "top_us_median")
"""With the time of the best ten matches, which only some engines have."""


def complete(result: Result, workload: str) -> Result:
    """The guaranteed fields in order, then the rest."""
    whole: Result = {name: result.get(name) for name in FIELDS}
    whole["workload"] = workload
    return whole | {name: value for name, value in result.items() if name not in FIELDS}


def run(arguments: argparse.Namespace) -> None:
    """Measure and print."""
    workload = make(arguments.workload, seed=arguments.seed)
    results = measure(
        workload,
        arguments.n,
        arguments.events,
        arguments.engines,
        rounds=arguments.rounds,
        seconds=arguments.seconds,
        progress=Progress(),
    )
    if not arguments.json:
        print(described([complete(result, arguments.workload) for result in results]))
        return
    for result in results:
        print(json.dumps(complete(result, arguments.workload)))


def described(results: list[Result]) -> str:
    """One line per engine."""
    rows = []
    for result in results:
        if "skipped" in result:
            rows.append([result["engine"], f"skipped: {result['skipped']}"])
            continue
        capped = f"{result['n']:,} (capped)" if result["capped"] else result["n"]
        rows.append([capped if name == "n" else result[name] for name in SHOWN])
    return table(SHOWN, rows)


def _engines(text: str) -> list[str]:
    names = text.split(",")
    unknown = [name for name in names if name not in engines.NAMES]
    if unknown or len(set(names)) < len(names):
        message = f"name some of {', '.join(engines.NAMES)}, each once"
        raise argparse.ArgumentTypeError(message)
    return names


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Put `match` on the command line."""
    command = commands.add_parser("match", help="matching time of each engine")
    command.add_argument("--workload", choices=NAMES, default="ads")
    command.add_argument("--n", type=positive, default=100_000, help="expressions")
    command.add_argument("--events", type=positive, default=100)
    command.add_argument("--engines", type=_engines, default=["native", "flat"])
    command.add_argument("--rounds", type=positive, default=5)
    command.add_argument("--seconds", type=float, default=10.0, help="matching time per engine")
    command.add_argument("--seed", type=int, default=1)
    command.add_argument("--json", action="store_true", help="print one JSON object per engine")
    command.set_defaults(run=run)
