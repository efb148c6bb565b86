"""The engines that are measured, one adapter a file, all with the same face (`engine.py`).

native           the product's core, with statistics over other events of the workload
native-unaided   the same without statistics: by the ranking of operators alone
scan, reference  the oracle and the thesis's structures, in Python; 10,000 expressions at most
flat             a tight scan in Rust: the baseline. `flat-as-written` leaves the children in order
a-tree           the crate of that name; 100,000 expressions at most, since its build is quadratic
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
    "flat-as-written": lambda schema: Flat(schema, reorder=False),
    "a-tree": ATree,
}

NAMES = ("native", *_MAKERS)

__all__ = ["NAMES", "Engine", "Unavailable", "make"]


def make(name: str, schema: Schema, seen: Sequence[Event] = ()) -> Engine:
    """An empty engine, or `Unavailable`. `seen` are events to learn from, where one can."""
    return Native(schema, seen) if name == "native" else _MAKERS[name](schema)
