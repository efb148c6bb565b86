"""Lines into batches, batches into the store, in order."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest

from app.api.imports.pipeline import BATCH_BYTES, BATCH_LINES, Batch, batches_of, import_all
from campaigns.campaign.imports import CREATED, LineResult
from campaigns.errors import DatabaseUnavailable
from campaigns.store import Store

NO_STORE = cast(Store, None)
"""The imports of these tests need none."""


async def pieces(*some: bytes | None) -> AsyncIterator[bytes | None]:
    for piece in some:
        yield piece


async def test_a_batch_is_full_by_its_lines_or_by_its_bytes() -> None:
    lines = b'"x"\n' * (BATCH_LINES + 1)
    found = [batch async for batch in batches_of(pieces(lines))]
    assert [len(batch.numbers) for batch in found] == [BATCH_LINES, 1]
    long = b'"' + b"x" * 250_000 + b'"\n'
    found = [batch async for batch in batches_of(pieces(*[long] * 20))]
    assert max(batch.size for batch in found) < BATCH_BYTES + 260_000
    assert sum(len(batch.numbers) for batch in found) == 20


async def test_a_pause_ends_a_batch_and_no_line() -> None:
    found = [batch async for batch in batches_of(pieces(b"1\n2", None, b"3\n", None, None, b"4"))]
    assert [batch.values for batch in found] == [[1], [23], [4]]
    assert [batch.numbers for batch in found] == [[1], [2], [3]]


def batch_of(*external_ids: str) -> Batch:
    values: list[object] = [{"external_id": name} for name in external_ids]
    return Batch([int(name) for name in external_ids], values)


async def batches(*some: Batch) -> AsyncIterator[Batch]:
    for batch in some:
        yield batch


class Recorder:
    """An import that takes as long as it is told, and says what was under way."""

    def __init__(self, *seconds: float, fails_at: str = "") -> None:
        self.seconds = list(seconds)
        self.fails_at = fails_at
        self.under_way = 0
        self.most = 0
        self.delivered: list[int] = []

    async def import_batch(self, _: Any, __: str, values: list[Any]) -> list[LineResult]:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        await asyncio.sleep(self.seconds.pop(0))
        self.under_way -= 1
        if values[0]["external_id"] == self.fails_at:
            raise DatabaseUnavailable("gone")
        return [LineResult(CREATED) for _ in values]

    def deliver(self, batch: Batch, results: list[LineResult]) -> None:
        assert len(results) == len(batch.numbers)
        self.delivered += batch.numbers


async def test_two_are_under_way_and_delivered_in_order() -> None:
    recorder = Recorder(0.05, 0, 0.02, 0)
    some = batches(batch_of("1"), batch_of("2"), batch_of("3"), batch_of("4"))
    await import_all(NO_STORE, "me", some, recorder.import_batch, recorder.deliver)
    assert recorder.delivered == [1, 2, 3, 4]
    assert recorder.most == 2


async def test_one_that_names_the_same_campaign_waits() -> None:
    recorder = Recorder(0.02, 0, 0.02, 0)
    some = batches(batch_of("1", "2"), batch_of("2"), batch_of("2", "3"), batch_of("3"))
    await import_all(NO_STORE, "me", some, recorder.import_batch, recorder.deliver)
    assert recorder.delivered == [1, 2, 2, 2, 3, 3]
    assert recorder.most == 1


@pytest.mark.parametrize("fails_at", ["1", "2", "4"])
async def test_what_goes_wrong_is_raised_and_nothing_behind_it_is_delivered(fails_at: str) -> None:
    recorder = Recorder(0.01, 0, 0.01, 0, fails_at=fails_at)
    some = batches(batch_of("1"), batch_of("2"), batch_of("3"), batch_of("4"))
    with pytest.raises(DatabaseUnavailable):
        await import_all(NO_STORE, "me", some, recorder.import_batch, recorder.deliver)
    assert recorder.delivered == list(range(1, int(fails_at)))


async def test_what_was_begun_is_finished_when_the_source_breaks() -> None:
    async def breaking() -> AsyncIterator[Batch]:
        yield batch_of("1")
        raise ConnectionError

    recorder = Recorder(0.02)
    with pytest.raises(ConnectionError):
        await import_all(NO_STORE, "me", breaking(), recorder.import_batch, recorder.deliver)
    assert recorder.delivered == [1]
