"""Imports over HTTP and from a file: lines into batches, batches into the store, in order.

    pieces ──▶ lines ──▶ batch n+1 ──▶ checked      (in a thread)
                         batch n   ──▶ written      (in the database)  ──▶ deliver, in order

Two batches are in progress at once, unless they name the same campaign: then the later one waits,
since the last line about a campaign wins.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import orjson

from app.api.imports.ndjson import Line, Lines
from app.errors.store_errors import item_of
from campaigns.campaign.analysis import described
from campaigns.campaign.imports import LineResult
from campaigns.store import Store

BATCH_LINES = 500
BATCH_BYTES = 2 * 1024 * 1024
"""A batch is full at either limit; they bound the memory and the length of a transaction."""

UNDER_WAY = 2

Import = Callable[[Store, str, list[object]], Awaitable[list[LineResult]]]
Deliver = Callable[["Batch", list[LineResult]], None]


@dataclass(slots=True)
class Batch:
    """Consecutive lines."""

    numbers: list[int] = field(default_factory=list)
    values: list[object] = field(default_factory=list)
    size: int = 0

    def add(self, line: Line) -> None:
        self.numbers.append(line.number)
        self.values.append(line.value)
        self.size += line.size

    @property
    def full(self) -> bool:
        return len(self.numbers) >= BATCH_LINES or self.size >= BATCH_BYTES

    def external_ids(self) -> set[str]:
        """The external ids in the batch."""
        named = (value.get("external_id") for value in self.values if isinstance(value, dict))
        return {name for name in named if isinstance(name, str)}


async def batches_of(
    pieces: AsyncIterator[bytes | None], lines: Lines | None = None
) -> AsyncIterator[Batch]:
    """The lines of a text in batches, NDJSON unless `lines` reads another format; None among the
    pieces ends the current batch."""
    lines, batch = lines or Lines(), Batch()
    async for piece in pieces:
        for line in lines.feed(piece or b""):
            batch.add(line)
            if batch.full:
                yield batch
                batch = Batch()
        if piece is None and batch.numbers:
            yield batch
            batch = Batch()
    for line in lines.end():
        batch.add(line)
    if batch.numbers:
        yield batch


async def import_all(
    store: Store,
    actor: str,
    batches: AsyncIterator[Batch],
    import_batch: Import,
    deliver: Deliver,
) -> None:
    """Import batch by batch, and deliver the results in the order of the lines.

    If the batches end with an error, the ones in progress are finished before it is raised.
    """
    turn = asyncio.Semaphore(UNDER_WAY)
    last: asyncio.Task[None] | None = None
    named: set[str] = set()

    async def one(batch: Batch, before: asyncio.Task[None] | None) -> None:
        try:
            try:
                results = await import_batch(store, actor, batch.values)
            finally:
                if before is not None:
                    await before
            deliver(batch, results)
        finally:
            turn.release()

    try:
        async for batch in batches:
            names = batch.external_ids()
            if last is not None and not names.isdisjoint(named):
                await last
            await turn.acquire()
            if last is not None and last.done():
                last.result()
            last, named = asyncio.create_task(one(batch, last)), names
    finally:
        if last is not None:
            await last


def result_line(number: int, result: LineResult) -> bytes:
    """A result as a line of NDJSON."""
    content: dict[str, Any] = {
        "line": number,
        "outcome": result.outcome,
        "external_id": result.external_id,
        "id": result.id,
        "version": result.version,
        "rev": result.rev,
        "changes": result.changes,
        "warnings": [described(warning) for warning in result.warnings],
        "errors": [item_of(problem).model_dump(mode="json") for problem in result.problems],
    }
    return orjson.dumps(content, option=orjson.OPT_APPEND_NEWLINE)
