"""The engines under measurement, one adapter per file, all with the interface in `engine.py`.

native           the product's core, with statistics of other events of the workload
native-unaided   the same without statistics, only with the ranking of operators
scan, reference  the oracle and the thesis's structures, in Python; at most 10,000 expressions
flat             a tight scan in Rust: the baseline
a-tree           the crate of that name; at most 100,000 expressions: its build is quadratic
quamina          the crate of that name; at most 2,000 expressions: it panics with more
a-tree-thesis, be-tree, propagation, pst-bloom, …   the engines of the papers, in Rust
"""

from collections.abc import Callable, Sequence

from bench.index.engines.engine import Engine, Unavailable
from bench.index.engines.native import Native
from bench.index.engines.peers import ATree, Flat, Paper, Quamina
from bench.index.engines.python import PythonEngine
from index.language import Schema
from testkit.workloads.workload import Event

_MAKERS: dict[str, Callable[[Schema], Engine]] = {
    "native-unaided": Native,
    "scan": lambda schema: PythonEngine(schema, "scan"),
    "reference": lambda schema: PythonEngine(schema, "reference"),
    "flat": Flat,
    "a-tree": ATree,
    "quamina": Quamina,
}

PAPERS = (
    "a-tree-thesis",
    "be-tree",
    "be-tree-lazy",
    "be-tree-bitmap",
    "be-tree-bitmap-cc",
    "be-tree-lazy-bloom",
    "be-tree-bitmap-bloom",
    "propagation",
    "propagation-plain",
    "propagation-static",
    "propagation-dynamic",
    "pst-bloom",
    "pst-hash",
)
"""The exact ones of the league. TAMA is approximate (`bench/papers/false_positives.py`), and
`be-tree-adaptive` is for churn (`bench/papers/drift.py`)."""

NAMES = ("native", *_MAKERS, *PAPERS)

__all__ = ["NAMES", "PAPERS", "Engine", "Unavailable", "make"]


def make(name: str, schema: Schema, seen: Sequence[Event] = ()) -> Engine:
    """An empty engine; raises `Unavailable`. `seen` are events that the engine may learn from."""
    if name in PAPERS:
        return Paper(name, schema, seen)
    return Native(schema, seen) if name == "native" else _MAKERS[name](schema)
