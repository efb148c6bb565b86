"""The metrics of all workers, as one of them answers `/metrics`."""

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
"""What a worker is asked for its `Registry.dump`."""


async def collect(directory: Path, timeout: float = 1.0) -> bytes:
    """The text for Prometheus; a worker that does not answer counts with what it said last."""
    at = time.time()
    answers = await ask_all(directory, ASK, timeout)
    counted = await asyncio.to_thread(_ledger(directory).settle, answers.heard, at)
    # Of a worker and its successor under the same name, the successor comes last and stays.
    living = {worker_of(name): dump for name, dump in answers.heard.items()}
    return expose(merge(counted, living))


async def say_last_word(directory: Path, peer: Peer, registry: Registry) -> None:
    """Write down what a worker counted that is about to end, before its `Peer` is left."""
    dumps = {peer.name: registry.dump()}
    await asyncio.to_thread(_ledger(directory).settle, dumps, time.time())


def count_replaced(directory: Path, reason: str) -> None:
    """Count a worker that its parent replaced, for a parent has no numbers of its own. Beside the
    caller: whoever holds the lock of the ledger may be a worker that hangs, too."""
    dump: Dump = {"copse_workers_replaced_total": [[[reason], 1]]}
    who = f"parent.{time.time_ns()}"
    settle = partial(_ledger(directory).settle, {who: dump}, time.time())
    threading.Thread(target=settle, name="counting", daemon=True).start()


def _ledger(directory: Path) -> Ledger:
    return Ledger(directory, partial(is_there, directory))
