"""The cost of the worst accepted targetings: parsing, inserting, matching, memory.

Each is inserted into its own index and removed again, several times. The hold is the longest time
for which that kept matches waiting, by the index's own counter. Times are the best of the rounds,
the hold is the worst.
"""

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

import orjson

from bench.index.hostile_expressions import LIMITS, SCHEMA, Hostile, hostile, refused
from index import ExpressionError, Index, Limits, parse
from index.language import to_json
from testkit.markdown import table

COPIES = 100

COLUMNS = (
    ("bytes", "text"),
    ("parse_ms", "parse ms"),
    ("insert_ms", "insert ms"),
    ("hold_ms", "hold ms"),
    ("match_us", "match µs"),
    ("kept_kb", "kept KB"),
)


def measure(one: Hostile, rounds: int) -> dict[str, Any]:
    """The costs of one targeting."""
    parsed: list[float] = []
    for _ in range(rounds):
        seconds, tree = _timed(lambda: parse(one.text, SCHEMA, LIMITS))
        parsed.append(seconds)
    row = [(1, to_json(tree), 0, None, None, 0, 1)]
    index = Index(SCHEMA, "native", LIMITS)
    core = index._native().core
    core.take_longest_update_ns()
    inserted: list[float] = []
    matched: list[float] = []
    # As in a request: the core reads the attributes from bytes.
    event = orjson.dumps(one.event)
    for _ in range(rounds):
        inserted.append(_timed(lambda: index.insert_json(row))[0])
        matched += [_timed(lambda: index.match(event))[0] for _ in range(3)]
        index.remove(1)
    empty = min(_timed(lambda: index.match(event))[0] for _ in range(3 * rounds))
    return {
        "name": one.name,
        "bytes": len(one.text.encode()),
        "parse_ms": round(min(parsed) * 1e3, 2),
        "insert_ms": round(min(inserted) * 1e3, 2),
        "hold_ms": round(core.take_longest_update_ns() / 1e6, 2),
        "match_us": round((min(matched) - empty) * 1e6, 1),
        "kept_kb": round(kept_bytes(row[0][1]) / 1024),
    }


def kept_bytes(tree: str) -> float:
    """Memory of one more of its kind. Memory is allocated in large pieces, so many variants are
    inserted."""
    index = Index(SCHEMA, "native", Limits(predicates=LIMITS.predicates + 1))

    def variant(n: int) -> tuple[int, str, int, None, None, int, int]:
        return (n, f'[1,["and",["!=","a199",{n}],{tree[len("[1,") : -1]}]]', 0, None, None, 0, 1)

    index.insert_json([variant(0)])
    first = _bytes(index)
    index.insert_json([variant(n) for n in range(1, COPIES + 1)])
    return (_bytes(index) - first) / COPIES


def refusals() -> list[dict[str, Any]]:
    """How fast targetings beyond a limit are refused, and the error code."""
    rows = []
    for name, text in refused():

        def ask(text: str = text) -> str:
            try:
                parse(text, SCHEMA, LIMITS)
            except ExpressionError as error:
                return error.code
            raise AssertionError("it was accepted")

        seconds, code = min(_timed(ask) for _ in range(3))
        rows.append({"name": name, "code": code, "ms": round(seconds * 1e3, 2)})
    return rows


def run(arguments: argparse.Namespace) -> None:
    """Measure and print."""
    rows = [measure(one, arguments.rounds) for one in hostile()]
    wrong = refusals()
    if arguments.json:
        print(json.dumps({"accepted": rows, "refused": wrong}))
        return
    worst = {name: max(rows, key=lambda row: row[name])["name"] for name, _ in COLUMNS[1:]}
    titles = [title for _, title in COLUMNS]
    cells = [[row["name"], *(_cell(row, name, worst) for name, _ in COLUMNS)] for row in rows]
    print(table(["accepted", *titles], cells), end="\n\n")
    refused = [[row["name"], f"`{row['code']}`", row["ms"]] for row in wrong]
    print(table(["refused", "code", "ms"], refused))


def _cell(row: dict[str, Any], name: str, worst: dict[str, str]) -> str:
    text = f"{row[name]:,}"
    return f"**{text}**" if worst.get(name) == row["name"] else text


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    started = time.perf_counter()
    result = work()
    return time.perf_counter() - started, result


def _bytes(index: Index) -> int:
    held: Any = index.stats()["bytes"]
    return int(sum(held.values()))


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Put `hostile` on the command line."""
    command = commands.add_parser("hostile", help="the cost of the worst accepted targetings")
    command.add_argument("--rounds", type=int, default=5)
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.set_defaults(run=run)
