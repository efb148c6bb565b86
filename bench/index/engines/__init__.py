"""The engines under measurement, one adapter per file, all with the interface in `engine.py`.

native           the product's core, with statistics of other events of the workload
native-unaided   the same without statistics, only with the ranking of operators
scan, reference  the oracle and the thesis's structures, in Python; at most 10,000 expressions
flat             a tight scan in Rust: the baseline
a-tree           the crate of that name; at most 100,000 expressions: its build is quadratic
"""

from collections.abc import Callable, Sequence

from bench.index.engines.engine import Engine, Unavailable
from bench.index.engines.native import Native
from bench.index.engines.peers import ATree, Flat
from bench.index.engines.python import PythonEngine
from index.language import Schema
from testkit.workloads.workload import Event

_MAKERS: dict[str, Callable[[Schema], Engine]] = {
    "native-unaided": Native,
    "scan": lambda schema: PythonEngine(schema, "scan"),
    "reference": lambda schema: PythonEngine(schema, "reference"),
    "flat": Flat,
    "a-tree": ATree,
}

NAMES = ("native", *_MAKERS)

__all__ = ["NAMES", "Engine", "Unavailable", "make"]


def make(name: str, schema: Schema, seen: Sequence[Event] = ()) -> Engine:
    """An empty engine; raises `Unavailable`. `seen` are events that the engine may learn from."""
    return Native(schema, seen) if name == "native" else _MAKERS[name](schema)
