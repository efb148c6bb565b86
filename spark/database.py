"""What the jobs read from the service's database and write to it, through `campaigns/`."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy.exc import ProgrammingError

from campaigns.database.engine import Database
from campaigns.errors import BadDatabaseUrl, CampaignsError, DatabaseUnavailable, GateClosed
from campaigns.feed import queries
from campaigns.feed.load import BATCH, load
from campaigns.feed.service import open_source
from campaigns.feed.source import Source
from campaigns.statistics import service as statistics
from campaigns.statistics.gates import Finding, Rules, judge, passed
from campaigns.statistics.history import History, load_history
from campaigns.statistics.sample import unpack
from campaigns.statistics.versions import StatisticsVersion
from campaigns.store import Store
from index import Index, Limits, Schema
from index.language.limits import MAX_DEPTH
from spark.errors import GateFailed, JobError, WrongArguments
from spark.forecast.campaigns import CampaignTree

ACTOR = "spark"
"""The actor in the audit log."""

_LIMITS = Limits(2**31 - 1, 2**20, MAX_DEPTH, 2**24)
"""The service checked its own limits when it stored the trees."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Published:
    """The version of a document, and what the gates found."""

    version: StatisticsVersion
    findings: list[Finding]
    changed: bool
    """Whether this run activated it."""


def load_catalogue(url: str) -> Schema:
    """The declared attributes and the built-in ones."""

    async def read(store: Store) -> Schema:
        return (await store.catalogue()).schema

    return _with_store(url, read)


def load_index(url: str) -> Index:
    """An index of the active campaigns, the same as the service's."""

    async def read(source: Source) -> Index:
        return (await load(source, _LIMITS)).index

    return _with_source(url, read)


def load_campaigns(url: str) -> list[CampaignTree]:
    """The targeting of the active campaigns, without the categories that the service adds."""

    async def read(source: Source) -> list[CampaignTree]:
        found: list[CampaignTree] = []
        async with source.repeatable_read() as reading:
            async for batch in reading.stream(queries.campaigns(source.postgres), BATCH):
                found += (
                    CampaignTree(row[0], f"campaign {row[0]}", _bytes(row[1])) for row in batch
                )
        return found

    return _with_source(url, read)


def recent_statistics(url: str) -> History | None:
    """The active version and those of the days before, with their samples."""
    return _with_store(url, load_history)


def publish(
    url: str,
    document: dict[str, Any],
    sample: bytes,
    index: Index,
    rules: Rules,
    activate: bool = True,
    samples: int = statistics.KEPT_SAMPLES,
) -> Published:
    """Store a document, judge it by the gates and activate it; raises `GateFailed` if it does not
    pass. The newest `samples` versions keep their sample."""

    async def work(store: Store) -> Published:
        kept = await statistics.keep(store, ACTOR, document, sample, samples)
        before = await statistics.active(store)
        if before is not None and before.id == kept.id:  # an earlier or a parallel run did it
            return Published(before, [], False)
        old = await statistics.document(store, before.id) if before else None
        findings = judge(document, unpack(sample), old, rules, index)
        version = await statistics.mark(store, ACTOR, kept.id, findings)
        if not passed(findings):
            raise GateFailed(kept.id, [each.detail for each in findings if not each.passed])
        if activate:
            try:
                version = await statistics.activate(store, ACTOR, kept.id)
            except GateClosed as closed:  # a parallel run has just judged it otherwise
                raise JobError(str(closed)) from None
        return Published(version, findings, activate)

    return _with_store(url, work)


def _with_store(url: str, work: Callable[[Store], Awaitable[T]]) -> T:
    async def run() -> T:
        async with Database(url) as database:
            return await work(Store(database))

    return _run(run())


def _with_source(url: str, work: Callable[[Source], Awaitable[T]]) -> T:
    async def run() -> T:
        source = open_source(url)
        try:
            return await work(source)
        finally:
            await source.close()

    return _run(run())


def _run(work: Coroutine[Any, Any, T]) -> T:
    """Run it; an error of the database becomes a `JobError`."""
    try:
        return asyncio.run(work)
    except BadDatabaseUrl as error:
        raise WrongArguments(str(error)) from error
    except (DatabaseUnavailable, ProgrammingError) as error:
        raise JobError(f"the database cannot be used: {error}") from error
    except CampaignsError as error:
        raise JobError(str(error)) from error


def _bytes(tree: str | bytes) -> bytes:
    return tree.encode() if isinstance(tree, str) else tree
