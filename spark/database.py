"""What the jobs ask of the store and tell it; all of it through `campaigns/`."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy.exc import ProgrammingError

from campaigns.database.engine import Database
from campaigns.errors import CampaignsError, DatabaseUnavailable, GateClosed
from campaigns.feed import queries
from campaigns.feed.load import load
from campaigns.feed.service import open_source
from campaigns.statistics import service as statistics
from campaigns.statistics.gates import Finding, Rules, judge, passed
from campaigns.statistics.sample import unpack
from campaigns.statistics.versions import StatisticsVersion
from campaigns.store import Store
from index import Index, Limits, Schema
from index.language.limits import MAX_DEPTH
from spark.errors import GateFailed, JobError
from spark.forecast.campaigns import Expression

ACTOR = "spark"
"""Who the audit log says it was."""

_AS_STORED = Limits(2**31 - 1, 2**20, MAX_DEPTH - 1, 2**24)
"""What is stored was held to the service's limits; here it is taken as it is."""

_BATCH = 5_000

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Activated:
    """What became of a document."""

    version: StatisticsVersion
    findings: list[Finding]
    news: bool
    """Whether it was not active before."""


def with_store(url: str, work: Callable[[Store], Awaitable[T]]) -> T:
    """Do the work with a store; what its database refuses is a `JobError`."""

    async def run() -> T:
        async with Database(url) as database:
            return await work(Store(database))

    try:
        return asyncio.run(run())
    except (DatabaseUnavailable, ProgrammingError) as error:
        raise JobError(f"the database cannot be used: {error}") from error
    except CampaignsError as error:
        raise JobError(str(error)) from error


def catalogue(url: str) -> Schema:
    """The attributes that are declared, and the built-in ones."""

    async def read(store: Store) -> Schema:
        return (await store.catalogue()).schema

    return with_store(url, read)


def active_campaigns(url: str) -> Index:
    """An index of the campaigns that are active now, as the service has them."""

    async def read(store: Store) -> Index:
        source = open_source(url)
        try:
            return (await load(source, _AS_STORED)).index
        finally:
            await source.close()

    return with_store(url, read)


def active_trees(url: str) -> list[Expression]:
    """The targeting of the active campaigns, without what the service adds to it."""

    async def read(store: Store) -> list[Expression]:
        source = open_source(url)
        found: list[Expression] = []
        try:
            async with source.snapshot() as reading:
                async for batch in reading.stream(queries.campaigns(source.postgres), _BATCH):
                    found += (
                        Expression(row[0], f"campaign {row[0]}", _bytes(row[1])) for row in batch
                    )
        finally:
            await source.close()
        return found

    return with_store(url, read)


def _bytes(tree: str | bytes) -> bytes:
    return tree.encode() if isinstance(tree, str) else tree


def steering(url: str) -> tuple[StatisticsVersion, dict[str, Any], bytes] | None:
    """The active version, its document and its sample."""

    async def read(store: Store) -> tuple[StatisticsVersion, dict[str, Any], bytes] | None:
        version = await statistics.active(store)
        if version is None:
            return None
        document = await statistics.document(store, version.id)
        return version, document, await statistics.sample(store, version.id)

    return with_store(url, read)


def publish(
    url: str,
    document: dict[str, Any],
    sample: bytes,
    index: Index,
    rules: Rules,
    activate: bool = True,
    samples: int = statistics.KEPT_SAMPLES,
) -> Activated:
    """Keep a document, let the gates judge it, and let it steer; `GateFailed` if it must not. So
    many `samples` stay."""

    async def work(store: Store) -> Activated:
        kept = await statistics.keep(store, ACTOR, document, sample, samples)
        before = await statistics.active(store)
        if before is not None and before.id == kept.id:  # since a run before, or one beside this
            return Activated(before, [], False)
        old = await statistics.document(store, before.id) if before else None
        findings = judge(document, unpack(sample), old, rules, index)
        version = await statistics.mark(store, ACTOR, kept.id, findings)
        if not passed(findings):
            raise GateFailed(kept.id, [each.detail for each in findings if not each.passed])
        if activate:
            try:
                version = await statistics.activate(store, ACTOR, kept.id)
            except GateClosed as closed:  # another run judged it otherwise, just now
                raise JobError(str(closed)) from None
        return Activated(version, findings, activate)

    return with_store(url, work)
