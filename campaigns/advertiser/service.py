"""Advertisers: create, read, list, change, pause, resume, delete."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from campaigns.advertiser import repository as rows
from campaigns.advertiser.model import Advertiser
from campaigns.campaign import repository as campaign
from campaigns.campaign.statuses import ACTIVE, ADVERTISER_STATUSES, ADVERTISER_TRANSITIONS, PAUSED
from campaigns.database.pagination import Page, check_filter, check_limit, id_in, page_of
from campaigns.database.retry import retried
from campaigns.errors import AdvertiserInUse, InvalidFields, TransitionRefused
from campaigns.fields import ANY_TEXT, OneOf
from campaigns.log.changes import ADVERTISER
from campaigns.log.idempotency import Answering
from campaigns.log.repository import LogEntry
from campaigns.log.write_transaction import Writing, writing
from campaigns.record import check_changes, check_new, check_version, found
from campaigns.store import Store

SHOWN = 100
"""How many campaigns the error names when an advertiser cannot be deleted."""


@dataclass(frozen=True, slots=True)
class AdvertiserFilter:
    """Which advertisers to list; `text` is searched in name and domain."""

    status: str | None = None
    text: str | None = None


@retried
async def create(
    store: Store,
    actor: str,
    fields: Mapping[str, Any],
    answering: Answering[Advertiser] | None = None,
) -> Advertiser:
    """Create an active advertiser."""
    values, problems = check_new(Advertiser, fields)
    if problems:
        raise InvalidFields(*problems)
    async with writing(store, actor) as transaction:
        rev = await transaction.take(1)
        times = {"created_at": transaction.at, "updated_at": transaction.at}
        numbers = {"status": ACTIVE, "version": 1, "rev": rev}
        advertiser = await rows.add(transaction.connection, {**values, **numbers, **times})
        await transaction.append([LogEntry.of("create", None, advertiser)])
        if answering is not None:
            await answering.store(transaction.connection, advertiser)
    return advertiser


async def get(store: Store, id: int) -> Advertiser:
    """An advertiser."""
    async with store.database.read() as connection:
        return found(await rows.get(connection, id), ADVERTISER, id)


async def page(
    store: Store,
    filters: AdvertiserFilter = AdvertiserFilter(),  # noqa: B008 (immutable)
    limit: int = 50,
    cursor: str | None = None,
) -> Page[Advertiser]:
    """Advertisers in the order of creation."""
    check_limit(limit)
    check_filter("status", filters.status, OneOf(ADVERTISER_STATUSES))
    check_filter("text", filters.text, ANY_TEXT)
    after = id_in(cursor, filters)
    async with store.database.read() as connection:
        listed = await rows.page(connection, filters.status, filters.text, after, limit + 1)
    return page_of(listed, limit, lambda advertiser: advertiser.id, filters)


@retried
async def patch(
    store: Store, actor: str, id: int, fields: Mapping[str, Any], version: int | None
) -> Advertiser:
    """Change fields; null resets a field. A patch that changes nothing is not written."""
    values, problems = check_changes(Advertiser, fields)
    if problems:
        raise InvalidFields(*problems)
    async with writing(store, actor) as transaction:
        before = await _locked(transaction, id, version)
        after = replace(before, **values)
        return before if after == before else await _write(transaction, "patch", before, after)


async def pause(store: Store, actor: str, id: int, version: int | None = None) -> Advertiser:
    """Take all campaigns of an advertiser out of the index, whatever their own status."""
    return await _move(store, actor, "pause", id, PAUSED, version)


async def resume(store: Store, actor: str, id: int, version: int | None = None) -> Advertiser:
    """Let the active campaigns of an advertiser serve again."""
    return await _move(store, actor, "resume", id, ACTIVE, version)


@retried
async def delete(store: Store, actor: str, id: int, version: int | None = None) -> int:
    """Remove an advertiser that has no campaigns, not even archived ones; returns the rev."""
    async with writing(store, actor) as transaction:
        connection = transaction.connection
        before = await _locked(transaction, id, version, to_remove=True)
        first, total = await campaign.of_advertiser(connection, id, SHOWN)
        if total:
            raise AdvertiserInUse(id, first, total)
        rev = await transaction.take(1)
        await rows.remove(connection, id)
        await transaction.append([LogEntry.removed(before)])
        return rev


@retried
async def _move(
    store: Store, actor: str, action: str, id: int, wanted: str, version: int | None
) -> Advertiser:
    async with writing(store, actor) as transaction:
        before = await _locked(transaction, id, version)
        if wanted not in ADVERTISER_TRANSITIONS[before.status]:
            raise TransitionRefused(ADVERTISER, id, before.status, wanted)
        return await _write(transaction, action, before, replace(before, status=wanted))


async def _write(
    transaction: Writing, action: str, before: Advertiser, after: Advertiser
) -> Advertiser:
    rev = await transaction.take(1)
    after = replace(after, version=before.version + 1, rev=rev, updated_at=transaction.at)
    await rows.change(transaction.connection, after)
    await transaction.append([LogEntry.of(action, before, after)])
    return after


async def _locked(
    transaction: Writing, id: int, version: int | None, to_remove: bool = False
) -> Advertiser:
    """The advertiser, locked, if it is at the version that the writer has seen."""
    locked = await rows.lock(transaction.connection, id, to_remove)
    advertiser = found(locked, ADVERTISER, id)
    check_version(ADVERTISER, id, advertiser.version, version)
    return advertiser
