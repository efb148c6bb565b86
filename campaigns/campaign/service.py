"""Campaigns: create, read, list, change, activate, pause, archive, delete."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from campaigns.advertiser import repository as advertiser
from campaigns.campaign import repository as rows
from campaigns.campaign.fields import check_changes, check_new, check_window
from campaigns.campaign.model import Campaign, new_campaign
from campaigns.campaign.statuses import (
    ACTIVE,
    ARCHIVED,
    CAMPAIGN_STATUSES,
    CAMPAIGN_TRANSITIONS,
    DELETABLE,
    DRAFT,
    PAUSED,
)
from campaigns.campaign.targeting import Targeting, check_texts
from campaigns.catalogue.model import Catalogue
from campaigns.database.pagination import Page, check_filter, check_limit, id_in, page_of
from campaigns.database.retry import retried
from campaigns.errors import (
    FieldProblem,
    Final,
    InvalidFields,
    NotFound,
    StillActive,
    Taken,
    TransitionRefused,
    VersionConflict,
)
from campaigns.fields import MAX_ID, any_text, integer, one_of
from campaigns.log.changes import CAMPAIGN, NewChange
from campaigns.log.idempotency import Answering
from campaigns.log.repository import LogEntry
from campaigns.log.write_transaction import Writing, checked, writing
from campaigns.store import Store


@dataclass(frozen=True, slots=True)
class CampaignFilter:
    """Which campaigns a list shows; `text` is looked for in name, external id and targeting."""

    status: str | None = None
    advertiser_id: int | None = None
    text: str | None = None


@retried
async def create(
    store: Store,
    actor: str,
    fields: Mapping[str, Any],
    answering: Answering[Campaign] | None = None,
) -> Campaign:
    """Create a draft."""
    values, problems = check_new(fields)
    problems += check_window(values["starts_at"], values["ends_at"])

    async def attempt(catalogue: Catalogue) -> Campaign:
        targeting = await check_targeting(store, values["targeting"], catalogue, problems)
        async with writing(store, actor) as transaction:
            connection = transaction.connection
            await _hold_advertiser(transaction, values["advertiser_id"])
            rev = await transaction.take(1, checked=catalogue)
            await _check_external_id(transaction, values["external_id"])
            new = new_campaign(values, DRAFT, targeting, rev, transaction.at)
            campaign = await rows.add(connection, new)
            await transaction.append(
                [LogEntry(campaign.change(), "create", None, campaign.to_dict())]
            )
            if answering is not None:
                await answering.store(connection, campaign)
        return campaign

    return await checked(store, attempt, first_with_last=True)


async def get(store: Store, id: int) -> Campaign:
    """A campaign."""
    async with store.database.read() as connection:
        return _found(await rows.get(connection, id), id)


async def page(
    store: Store,
    filters: CampaignFilter = CampaignFilter(),  # noqa: B008 (immutable)
    limit: int = 50,
    cursor: str | None = None,
) -> Page[Campaign]:
    """Campaigns in the order in which they were created."""
    check_limit(limit)
    check_filter("status", filters.status, one_of(*CAMPAIGN_STATUSES))
    check_filter("text", filters.text, any_text)
    check_filter("advertiser_id", filters.advertiser_id, integer(1, MAX_ID))
    after = id_in(cursor, filters)
    async with store.database.read() as connection:
        found = await rows.page(
            connection, filters.status, filters.advertiser_id, filters.text, after, limit + 1
        )
    return page_of(found, limit, lambda campaign: campaign.id, filters)


@retried
async def patch(
    store: Store, actor: str, id: int, fields: Mapping[str, Any], version: int | None
) -> Campaign:
    """Change fields; a null sets a field back. What changes nothing is not written."""
    values, problems = check_changes(fields)

    async def attempt(catalogue: Catalogue | None) -> Campaign:
        targeting = None
        if catalogue is not None:
            targeting = await check_targeting(store, values["targeting"], catalogue, problems)
        async with writing(store, actor) as transaction:
            before = await _locked(transaction, id, version)
            after = before.changed(values, targeting)
            if after == before:
                return before
            if before.status == ARCHIVED:
                raise Final(id)
            if window := check_window(after.starts_at, after.ends_at):
                raise InvalidFields(*window)
            if after.advertiser_id != before.advertiser_id:
                await _hold_advertiser(transaction, after.advertiser_id)
            rev = await transaction.take(1, checked=catalogue)
            if after.external_id != before.external_id:
                await _check_external_id(transaction, after.external_id)
            return await _write(transaction, "patch", before, after, rev)

    if "targeting" in values:
        return await checked(store, attempt, first_with_last=True)
    if problems:
        raise InvalidFields(*problems)
    return await attempt(None)


async def activate(store: Store, actor: str, id: int, version: int | None = None) -> Campaign:
    """Let a campaign serve."""
    return await _move(store, actor, "activate", id, ACTIVE, version)


async def pause(store: Store, actor: str, id: int, version: int | None = None) -> Campaign:
    """Take a campaign out, until it is activated again."""
    return await _move(store, actor, "pause", id, PAUSED, version)


async def archive(store: Store, actor: str, id: int, version: int | None = None) -> Campaign:
    """Take a campaign out for ever, and keep it."""
    return await _move(store, actor, "archive", id, ARCHIVED, version)


@retried
async def delete(store: Store, actor: str, id: int, version: int | None = None) -> int:
    """Remove a campaign that does not serve; the rev of that."""
    async with writing(store, actor) as transaction:
        before = await _locked(transaction, id, version)
        if before.status not in DELETABLE:
            raise StillActive(id)
        rev = await transaction.take(1)
        await rows.remove(transaction.connection, id)
        removed = LogEntry(NewChange(CAMPAIGN, str(id)), "delete", before.to_dict(), None)
        await transaction.append([removed])
        return rev


async def check_targeting(
    store: Store, text: object, catalogue: Catalogue, problems: Sequence[FieldProblem]
) -> Targeting:
    """The checked targeting; `InvalidFields` if it, or anything that was checked before it, is wrong.
    In a thread, since the longest texts take a while."""
    if not isinstance(text, str):
        raise InvalidFields(*problems)
    found = await asyncio.to_thread(check_texts, [text], catalogue.schema, store.limits)
    targeting = found[text]
    if isinstance(targeting, FieldProblem):
        raise InvalidFields(*problems, targeting)
    if problems:
        raise InvalidFields(*problems)
    return targeting


@retried
async def _move(
    store: Store, actor: str, action: str, id: int, wanted: str, version: int | None
) -> Campaign:
    async with writing(store, actor) as transaction:
        before = await _locked(transaction, id, version)
        if wanted not in CAMPAIGN_TRANSITIONS[before.status]:
            raise TransitionRefused(CAMPAIGN, id, before.status, wanted)
        rev = await transaction.take(1)
        return await _write(transaction, action, before, replace(before, status=wanted), rev)


async def _write(
    transaction: Writing, action: str, before: Campaign, after: Campaign, rev: int
) -> Campaign:
    after = after.written(rev, transaction.at)
    entry = LogEntry(after.change(), action, before.to_dict(), after.to_dict())
    await transaction.update(rows.UPDATE, rows.renewed(after), entry)
    return after


async def _locked(transaction: Writing, id: int, version: int | None) -> Campaign:
    """The campaign, ours to write, if it is at the version that the writer has seen."""
    campaign = _found(await rows.lock(transaction.connection, id), id)
    if version is not None and campaign.version != version:
        raise VersionConflict(CAMPAIGN, id, version, campaign.version)
    return campaign


def _found(campaign: Campaign | None, id: int) -> Campaign:
    if campaign is None:
        raise NotFound(CAMPAIGN, id)
    return campaign


async def _hold_advertiser(transaction: Writing, id: int) -> None:
    if not await advertiser.hold(transaction.connection, [id]):
        raise InvalidFields(no_advertiser(id))


def no_advertiser(id: int) -> FieldProblem:
    """What is wrong with a campaign of nobody."""
    return FieldProblem("/advertiser_id", "advertiser.unknown", f"there is no advertiser {id}")


async def _check_external_id(transaction: Writing, external_id: str | None) -> None:
    """Nobody else has it. Whoever asks holds the head, so nobody can get it meanwhile."""
    if external_id is None:
        return
    if await rows.any_external_id(transaction.connection, [external_id]):
        raise Taken(CAMPAIGN, "external_id", external_id)
