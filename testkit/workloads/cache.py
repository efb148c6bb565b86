"""Generated expressions on disk, one JSON tree per line.

    bench/.cache/workloads/abe-1f2e3d….jsonl     named after the parameters and the generator

A file holds the start of the stream, as far as it was needed. Git ignores it.
"""

import hashlib
import json
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from testkit import CACHE
from testkit.workloads.workload import Workload

FOLDER = CACHE / "workloads"

SMALL = 5000
"""Smaller numbers of expressions are not cached."""

Progress = Callable[[int, int], None]
"""Progress callback: (done, total)."""


def items(
    workload: Workload, n: int, progress: Progress = lambda done, total: None
) -> Iterator[tuple[int, str]]:
    """The first `n` expressions with their ids."""
    if n < SMALL:
        return enumerate(islice(workload.expressions(), n))
    path = FOLDER / f"{workload.key()['workload']}-{_digest(workload)}.jsonl"
    count = path.with_suffix(".count")
    if not count.exists() or int(count.read_text()) < n:
        _write(workload, n, path, progress)
        count.write_text(f"{n}\n")
    return enumerate(islice(_read(path), n))


def _digest(workload: Workload) -> str:
    """A hash of the parameters and of the generating code."""
    digest = hashlib.sha256(json.dumps(workload.key(), sort_keys=True).encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        if source.name not in ("cache.py", "__init__.py"):
            digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _write(workload: Workload, n: int, path: Path, progress: Progress) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    with unfinished.open("w") as file:
        for done, text in enumerate(islice(workload.expressions(), n)):
            if done % 10_000 == 0:
                progress(done, n)
            file.write(text)
            file.write("\n")
    unfinished.replace(path)


def _read(path: Path) -> Iterator[str]:
    with path.open() as file:
        for line in file:
            yield line[:-1]
