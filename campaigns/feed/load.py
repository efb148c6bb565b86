"""Loads one version of the whole database into a fresh view, in bounded memory.

    head ─▶ attributes ─▶ statistics ─▶ active campaigns ──┬── batch n: into the index
             │                                             ├── batch n + 1: being checked
             └─▶ advertisers, keys                         └── batch n + 2: being fetched

The statistics come first, so that each expression is planned once. The index of an index file may
use other statistics; `statistics/apply.py` changes that afterwards, while it serves.

With an index file, only the changes since it was written are read, from the log and in the same
transaction, so that the result is of one position of the log as well.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import orjson

from campaigns.campaign.categories import labels_of
from campaigns.feed import queries
from campaigns.feed.apply import IndexRow, apply, insert_rows
from campaigns.feed.index_file import IndexFile, NoIndexFile
from campaigns.feed.source import Reading, Row, Source
from campaigns.feed.view import KeyLimits, NamedStatistics, ServedKey, View
from campaigns.log.changes import CAMPAIGN, STATISTICS
from campaigns.operators.model import SERVED, OperatorRecord, served
from campaigns.statistics.apply import BadStatistics, arrange, document, refuse
from index import Attribute, Limits, SchemaError
from index.score import score_of

log = logging.getLogger(__name__)

BATCH = 5_000
INSERTING = 2
"""How many batches go into the index at once: it checks one while it inserts another."""

FARTHEST = 200_000
"""With more changes to read than this, reading all campaigns is as fast as reading the log."""

Progress = Callable[[int, int], None]
"""Progress callback: (loaded, total) campaigns."""


async def load(
    source: Source,
    limits: Limits,
    progress: Progress | None = None,
    kept: IndexFile | None = None,
) -> View:
    """A view of the database as it is now."""
    saved = await _kept_view(kept, limits)
    async with source.repeatable_read() as reading:
        attributes = {str(name): str(type) for name, type in await reading.rows(queries.ATTRIBUTES)}
        operators = [_operator(row) for row in await reading.rows(queries.OPERATORS)]
        view = await _continued(saved, attributes, reading) if saved else None
        statistics = _named(await reading.rows(queries.statistics(source.postgres)))
        if view is None:
            view = View.empty(attributes, limits)
            view.use_operators(operators)
            await _use(statistics, view, reading)
            await _all_campaigns(source, reading, view, progress)
        view.use_operators(operators)
        view.statistics = statistics
        for id, status, domain, seat, apps in await reading.rows(queries.ADVERTISERS):
            view.put_advertiser(id, status, domain, seat, orjson.loads(apps or b"[]") or ())
        for row in await reading.rows(queries.keys(source.postgres)):
            key = _key(row)
            view.keys[key.prefix] = key
        view.arrive(reading.head.epoch, reading.head.rev, reading.head.nonce)
        return view


async def _all_campaigns(
    source: Source, reading: Reading, view: View, progress: Progress | None
) -> None:
    total = (await reading.rows(queries.COUNT))[0][0]
    inserting: deque[asyncio.Task[None]] = deque()
    loaded = 0

    async def first_is_in() -> None:
        nonlocal loaded
        await inserting.popleft()
        loaded += BATCH
        if progress:
            progress(min(loaded, total), total)

    try:
        async for batch in reading.stream(queries.campaigns(source.postgres), BATCH):
            if len(inserting) == INSERTING:
                await first_is_in()
            inserting.append(asyncio.create_task(asyncio.to_thread(_insert, view, batch)))
        while inserting:
            await first_is_in()
    finally:
        await asyncio.gather(*inserting, return_exceptions=True)


async def _use(statistics: NamedStatistics | None, view: View, reading: Reading) -> None:
    """Use the statistics in an empty view."""
    if statistics is None:
        return
    text = await document(reading, statistics)
    try:
        await asyncio.to_thread(arrange, view, statistics, text)
    except BadStatistics as error:
        refuse(view, statistics, error)


def _insert(view: View, batch: Sequence[Row]) -> None:
    rows: list[IndexRow] = []
    revs: list[int] = []
    for id, tree, priority, bid, starts, ends, advertiser, version, rev, categories in batch:
        # Most have no window, or one in seconds already: a million calls would take a second.
        start = starts if starts is None or type(starts) is float else _moment(starts)
        end = ends if ends is None or type(ends) is float else _moment(ends)
        labels = () if categories is None else _labels(categories)
        rows.append((id, tree, score_of(priority, bid), start, end, advertiser, version, labels))
        revs.append(rev)
    insert_rows(view, rows, revs)


@lru_cache(maxsize=10_000)
def _labels(categories: str) -> tuple[str, ...]:
    return labels_of(orjson.loads(categories))


async def _kept_view(kept: IndexFile | None, limits: Limits) -> View | None:
    if kept is None:
        return None
    try:
        return await asyncio.to_thread(kept.load, limits)
    except NoIndexFile as error:
        log.info("no index file to start from: %s", error)
        return None


async def _continued(saved: View, attributes: dict[str, str], reading: Reading) -> View | None:
    """A saved view, brought to the head of the database; None if that is not possible."""
    head, place = reading.head, saved.place
    page = await reading.log(place.rev)
    fits = place.epoch == head.epoch and place.nonce and place.nonce == page.head.nonce
    if not fits or place.rev < head.pruned_rev or head.rev - place.rev > FARTHEST:
        log.info("the index file has another history, or is too old: rev %d", place.rev)
        return None
    try:
        for name, type in attributes.items():
            saved.index.add_attribute(Attribute(name, type))
    except SchemaError:
        log.info("an attribute has another type in the index file")
        return None
    saved.catalogue = attributes
    for kind, id in list(saved.poisoned):
        if kind == STATISTICS:  # they may be right by now, or others
            del saved.poisoned[kind, id]
    for group in saved.index.muted():
        saved.index.unmute(group)
    while saved.place.rev < head.rev:
        if not page.changes or page.changes[0].rev != saved.place.rev + 1:
            return None
        # Everything but campaigns is read from its table.
        campaigns = [change for change in page.changes if change.kind == CAMPAIGN]
        await asyncio.to_thread(apply, saved, campaigns)
        saved.arrive(place.epoch, page.changes[-1].rev, page.changes[-1].nonce)
        page = await reading.log(saved.place.rev)
    return saved


def _operator(row: Row) -> OperatorRecord:
    content = dict(zip(SERVED, row, strict=True))
    if isinstance(content["arguments"], str):
        content["arguments"] = orjson.loads(content["arguments"])
    return served(content)


def _key(row: Row) -> ServedKey:
    id, prefix, secret_hash, scopes, expires_at, rate, max_body = row
    return ServedKey(
        id,
        prefix,
        secret_hash,
        frozenset(orjson.loads(scopes)),
        _moment(expires_at),
        KeyLimits.of(rate, max_body),
    )


def _named(rows: Sequence[Row]) -> NamedStatistics | None:
    for id, checksum, window_from, window_to in rows:
        return NamedStatistics(id, checksum, _moment(window_from) or 0.0, _moment(window_to) or 0.0)
    return None


def _moment(value: Any) -> float | None:
    """Epoch seconds; SQLite stores times as text, in UTC."""
    if isinstance(value, str):
        moment = datetime.fromisoformat(value)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return None if value is None else float(value)
