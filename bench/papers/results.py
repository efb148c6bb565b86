"""Measured points on disk, so that an interrupted sweep can continue.

bench/.cache/results/3f2a….json     named by a hash of the parameters and the engines' binaries
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from bench.index.measure import Result, measure
from bench.papers.figures import Point
from testkit import CACHE, ROOT
from testkit.progress import Progress
from testkit.workloads import make

FOLDER = CACHE / "results"


def result(point: Point, engines: Sequence[str], events: int, progress: Progress) -> list[Result]:
    """Measure a point, or reuse the result of the same binaries."""
    key = _key(point, engines, events)
    known = kept(key)
    if known is not None:
        return known
    workload = make(point.workload, **point.parameters)
    results = measure(workload, point.n, events, engines, rounds=3, seconds=5.0, progress=progress)
    keep(key, results)
    return results


def is_known(point: Point, engines: Sequence[str], events: int) -> bool:
    """Whether a point was measured with the current binaries."""
    return kept(_key(point, engines, events)) is not None


def _key(point: Point, engines: Sequence[str], events: int) -> list[object]:
    workload = make(point.workload, **point.parameters)
    return [workload.key(), point.n, list(engines), events]


def kept(key: list[object]) -> list[Result] | None:
    """The stored result for this key and the current binaries."""
    path = _path(key)
    return list(json.loads(path.read_text())) if path.exists() else None


def keep(key: list[object], results: list[Result]) -> None:
    """Store a result."""
    path = _path(key)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results))


def _path(key: list[object]) -> Path:
    whole = json.dumps([*key, _binaries()], sort_keys=True)
    return FOLDER / f"{hashlib.sha256(whole.encode()).hexdigest()[:20]}.json"


def _binaries() -> list[str]:
    """Hashes of the engines' binaries and sources."""
    files = [*ROOT.glob("index/_native*.so"), *ROOT.glob("bench/native/src/**/*.rs")]
    return [hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(files)]
