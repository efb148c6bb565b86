"""The metrics of all workers, for the one that answers `/metrics`."""

import asyncio
import threading
import time
from functools import partial
from pathlib import Path

from app.observability.metrics.ledger import Ledger
from app.observability.metrics.merge import merge
from app.observability.metrics.registry import Dump, Registry
from app.observability.metrics.text import expose
from app.workers.peers import Peer, ask_all, is_there, worker_of

ASK = "metrics"
"""The question to the workers; the answer is their `Registry.dump`."""


async def collect(directory: Path, timeout: float = 1.0) -> bytes:
    """The text for Prometheus; a worker that does not answer counts with its last answer."""
    at = time.time()
    answers = await ask_all(directory, ASK, timeout)
    counted = await asyncio.to_thread(_ledger(directory).settle, answers.heard, at)
    # A worker and its successor have the same name; the successor comes last and wins.
    living = {worker_of(name): dump for name, dump in answers.heard.items()}
    return expose(merge(counted, living))


async def record_final_counts(directory: Path, peer: Peer, registry: Registry) -> None:
    """Keep the counts of a worker that is about to end, while its `Peer` still answers."""
    dumps = {peer.name: registry.dump()}
    await asyncio.to_thread(_ledger(directory).settle, dumps, time.time())


def count_replaced(directory: Path, reason: str) -> None:
    """Count a worker that the parent replaced; the parent has no registry of its own. It runs in a
    thread, since the lock of the ledger may be held by a worker that hangs."""
    dump: Dump = {"copse_workers_replaced_total": [[[reason], 1]]}
    who = f"parent.{time.time_ns()}"
    settle = partial(_ledger(directory).settle, {who: dump}, time.time())
    threading.Thread(target=settle, name="counting", daemon=True).start()


def _ledger(directory: Path) -> Ledger:
    return Ledger(directory, partial(is_there, directory))
