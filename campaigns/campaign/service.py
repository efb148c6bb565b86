"""Campaigns: create, read, list, change, activate, pause, archive, delete."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from campaigns.advertiser import repository as advertiser
from campaigns.campaign import repository as rows
from campaigns.campaign.model import Campaign, check_window, new_campaign
from campaigns.campaign.statuses import (
    ACTIVE,
    ARCHIVED,
    CAMPAIGN_STATUSES,
    CAMPAIGN_TRANSITIONS,
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
    StillActive,
    Taken,
    TransitionRefused,
)
from campaigns.fields import ANY_TEXT, MAX_ID, Integer, OneOf
from campaigns.log.changes import CAMPAIGN
from campaigns.log.idempotency import Answering
from campaigns.log.repository import LogEntry
from campaigns.log.write_transaction import Writing, checked, writing
from campaigns.record import check_changes, check_new, check_version, found
from campaigns.store import Store

_IDS_A_QUERY = 1000


@dataclass(frozen=True, slots=True)
class CampaignFilter:
    """Which campaigns to list; `text` is searched in name, external id and targeting."""

    status: str | None = None
    advertiser_id: int | None = None
    external_id: str | None = None
    text: str | None = None


@retried
async def create(
    store: Store,
    actor: str,
    fields: Mapping[str, Any],
    answering: Answering[Campaign] | None = None,
) -> Campaign:
    """Create a draft."""
    values, problems = check_new(Campaign, fields)
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
            await transaction.append([LogEntry.of("create", None, campaign)])
            if answering is not None:
                await answering.store(connection, campaign)
        return campaign

    return await checked(store, attempt, first_with_last=True)


async def get(store: Store, id: int) -> Campaign:
    """A campaign."""
    async with store.database.read() as connection:
        return found(await rows.get(connection, id), CAMPAIGN, id)


async def page(
    store: Store,
    filters: CampaignFilter = CampaignFilter(),  # noqa: B008 (immutable)
    limit: int = 50,
    cursor: str | None = None,
) -> Page[Campaign]:
    """Campaigns in the order of creation."""
    check_limit(limit)
    check_filter("status", filters.status, OneOf(CAMPAIGN_STATUSES))
    check_filter("text", filters.text, ANY_TEXT)
    check_filter("external_id", filters.external_id, ANY_TEXT)
    check_filter("advertiser_id", filters.advertiser_id, Integer(1, MAX_ID))
    after = id_in(cursor, filters)
    async with store.database.read() as connection:
        listed = await rows.page(
            connection,
            filters.status,
            filters.advertiser_id,
            filters.external_id,
            filters.text,
            after,
            limit + 1,
        )
    return page_of(listed, limit, lambda campaign: campaign.id, filters)


async def names_of(store: Store, ids: Sequence[int]) -> dict[int, dict[str, Any]]:
    """The `external_id`, `advertiser_id` and `version` of campaigns, by id; unknown ids are left
    out."""
    found: dict[int, dict[str, Any]] = {}
    async with store.database.read() as connection:
        for first in range(0, len(ids), _IDS_A_QUERY):
            found |= await rows.names_of(connection, ids[first : first + _IDS_A_QUERY])
    return found


async def terms_of(
    store: Store, ids: Sequence[int]
) -> dict[int, tuple[int, int, datetime | None, datetime | None]]:
    """The priority, the bid and the flight of campaigns, by id; unknown ids are left out."""
    found: dict[int, tuple[int, int, datetime | None, datetime | None]] = {}
    async with store.database.read() as connection:
        for first in range(0, len(ids), _IDS_A_QUERY):
            found |= await rows.terms_of(connection, ids[first : first + _IDS_A_QUERY])
    return found


@retried
async def patch(
    store: Store, actor: str, id: int, fields: Mapping[str, Any], version: int | None
) -> Campaign:
    """Change fields; null resets a field. A patch that changes nothing is not written."""
    values, problems = check_changes(Campaign, fields)

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
    """Take a campaign out of the index until it is activated again."""
    return await _move(store, actor, "pause", id, PAUSED, version)


async def archive(store: Store, actor: str, id: int, version: int | None = None) -> Campaign:
    """Take a campaign out of the index for good, and keep it."""
    return await _move(store, actor, "archive", id, ARCHIVED, version)


@retried
async def delete(store: Store, actor: str, id: int, version: int | None = None) -> int:
    """Remove a campaign that is not active; returns the rev."""
    async with writing(store, actor) as transaction:
        before = await _locked(transaction, id, version)
        if before.status == ACTIVE:
            raise StillActive(id)
        rev = await transaction.take(1)
        await rows.remove(transaction.connection, id)
        await transaction.append([LogEntry.removed(before)])
        return rev


async def check_targeting(
    store: Store, text: object, catalogue: Catalogue, problems: Sequence[FieldProblem]
) -> Targeting:
    """The checked targeting, or `InvalidFields` with its problems and those found before."""
    if not isinstance(text, str):
        raise InvalidFields(*problems)
    known = await store.knowledge(catalogue)
    arguments = ([text], catalogue.schema, store.limits, known)
    targeting = (await store.analyse(len(text), check_texts, *arguments))[text]
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
    entry = LogEntry.of(action, before, after)
    await transaction.update(rows.UPDATE, rows.parameters(after), entry)
    return after


async def _locked(transaction: Writing, id: int, version: int | None) -> Campaign:
    """The campaign, locked, if it is at the version that the writer has seen."""
    campaign = found(await rows.lock(transaction.connection, id), CAMPAIGN, id)
    check_version(CAMPAIGN, id, campaign.version, version)
    return campaign


async def _hold_advertiser(transaction: Writing, id: int) -> None:
    if not await advertiser.hold(transaction.connection, [id]):
        raise InvalidFields(no_advertiser(id))


def no_advertiser(id: int) -> FieldProblem:
    """The problem of a campaign whose advertiser does not exist."""
    return FieldProblem("/advertiser_id", "advertiser.unknown", f"there is no advertiser {id}")


async def _check_external_id(transaction: Writing, external_id: str | None) -> None:
    """Check that no other campaign has it. The caller holds the head, so none can take it."""
    if external_id is None:
        return
    if await rows.any_external_id(transaction.connection, [external_id]):
        raise Taken(CAMPAIGN, "external_id", external_id)
