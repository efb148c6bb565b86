"""The SQL of `campaigns`."""

import json
from array import array
from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import (
    ColumnElement,
    bindparam,
    delete,
    func,
    insert,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from campaigns.campaign.model import Campaign
from campaigns.campaign.statuses import ACTIVE, ARCHIVED
from campaigns.campaign.targeting import names_to_json
from campaigns.database.bulk import insert_rows
from campaigns.database.prepared import Prepared
from campaigns.database.tables import Base, CampaignRow
from campaigns.fields import Texts, is_id
from campaigns.log.repository import RowUpdate

_NAMES = Campaign.columns()
_COLUMNS = [getattr(CampaignRow, name) for name in _NAMES]
_TABLE = Base.metadata.tables[CampaignRow.__tablename__]
_LISTS = [name for name, each in Campaign.fields().items() if isinstance(each.field.kind, Texts)]
_ROWS_A_FETCH = 10_000

_BY_ID = select(*_COLUMNS).where(CampaignRow.id == bindparam("wanted_id"))
_GET = Prepared(_BY_ID)
_LOCK = Prepared(_BY_ID.with_for_update())

_NEW: dict[str, Any] = {name: bindparam(f"new_{name}") for name in _NAMES if name != "id"}
_UPDATE = update(_TABLE).where(_TABLE.c.id == bindparam("new_id")).values(_NEW)
UPDATE = RowUpdate(_UPDATE)
"""Writes a campaign that this transaction has locked; `parameters` gives the values."""

_ADD = Prepared(insert(_TABLE).values(_NEW).returning(_TABLE.c.id))

_NEW_IDS = text(
    "SELECT nextval(pg_get_serial_sequence('campaigns', 'id')) FROM generate_series(1, :count)"
)
_LAST_ID = text("SELECT seq FROM sqlite_sequence WHERE name = 'campaigns'")


async def get(connection: AsyncConnection, id: int) -> Campaign | None:
    """A campaign."""
    return await _one(connection, id, _GET)


async def several(connection: AsyncConnection, ids: Collection[int]) -> list[Campaign]:
    """The campaigns with these ids, by id."""
    query = select(*_COLUMNS).where(CampaignRow.id.in_(ids)).order_by(CampaignRow.id)
    return [_campaign(row) for row in await connection.execute(query)]


async def lock(connection: AsyncConnection, id: int) -> Campaign | None:
    """A campaign, locked until the transaction ends."""
    return await _one(connection, id, _LOCK)


async def _one(connection: AsyncConnection, id: int, query: Prepared) -> Campaign | None:
    rows = await query.run(connection, {"wanted_id": id}) if is_id(id) else ()
    return _campaign(rows[0]) if rows else None


async def lock_by_external_id(
    connection: AsyncConnection, external_ids: Collection[str]
) -> dict[str, Campaign]:
    """The campaigns with these external ids, locked in the order of their ids, so that two writers
    of the same campaigns never deadlock."""
    query = select(*_COLUMNS).where(_one_of(external_ids)).order_by(CampaignRow.id)
    rows = await connection.execute(query.with_for_update())
    found = [_campaign(row) for row in rows]
    return {str(campaign.external_id): campaign for campaign in found}


async def targeting_by_external_id(
    connection: AsyncConnection, external_ids: Collection[str]
) -> dict[str, str]:
    """The current targeting of campaigns, by external id."""
    query = select(CampaignRow.external_id, CampaignRow.targeting).where(_one_of(external_ids))
    return {str(row.external_id): row.targeting for row in await connection.execute(query)}


async def names_of(connection: AsyncConnection, ids: Collection[int]) -> dict[int, dict[str, Any]]:
    """The external id, the advertiser and the version of campaigns, by id."""
    names = (CampaignRow.external_id, CampaignRow.advertiser_id, CampaignRow.version)
    query = select(CampaignRow.id, *names).where(CampaignRow.id.in_(ids))
    return {
        id: {"external_id": external_id, "advertiser_id": advertiser_id, "version": version}
        for id, external_id, advertiser_id, version in await connection.execute(query)
    }


async def terms_of(
    connection: AsyncConnection, ids: Collection[int]
) -> dict[int, tuple[int, int, datetime | None, datetime | None]]:
    """The priority, the bid and the flight of campaigns, by id."""
    terms = (
        CampaignRow.priority,
        CampaignRow.bid_micros,
        CampaignRow.starts_at,
        CampaignRow.ends_at,
    )
    query = select(CampaignRow.id, *terms).where(CampaignRow.id.in_(ids))
    return {id: (p, b, start, end) for id, p, b, start, end in await connection.execute(query)}


async def any_external_id(connection: AsyncConnection, external_ids: Collection[str]) -> bool:
    """Whether any of these external ids is taken."""
    query = select(CampaignRow.id).where(_one_of(external_ids)).limit(1)
    return (await connection.execute(query)).first() is not None


async def page(
    connection: AsyncConnection,
    status: str | None,
    advertiser_id: int | None,
    external_id: str | None,
    words: str | None,
    after: int | None,
    limit: int,
) -> list[Campaign]:
    """Campaigns by id, from after one id on."""
    query = select(*_COLUMNS).order_by(CampaignRow.id).limit(limit)
    if after is not None:
        query = query.where(CampaignRow.id > after)
    if status is not None:
        query = query.where(CampaignRow.status == status)
    if advertiser_id is not None:
        query = query.where(CampaignRow.advertiser_id == advertiser_id)
    if external_id is not None:
        query = query.where(CampaignRow.external_id == external_id)
    if words is not None:
        searched = (CampaignRow.name, CampaignRow.external_id, CampaignRow.targeting)
        query = query.where(or_(*(c.icontains(words, autoescape=True) for c in searched)))
    return [_campaign(row) for row in await connection.execute(query)]


async def new_ids(connection: AsyncConnection, count: int) -> list[int]:
    """Ids that no campaign ever had. On SQLite they are reserved only when a row is inserted."""
    if connection.dialect.name == "postgresql":
        return list((await connection.execute(_NEW_IDS, {"count": count})).scalars())
    last = (await connection.execute(_LAST_ID)).scalar() or 0
    return list(range(last + 1, last + 1 + count))


async def add(connection: AsyncConnection, campaign: Campaign) -> Campaign:
    """Insert a campaign; the database assigns its id."""
    values = parameters(campaign)
    del values["new_id"]
    ((id,),) = await _ADD.run(connection, values)
    return replace(campaign, id=id)


async def insert_all(connection: AsyncConnection, campaigns: Sequence[Campaign]) -> None:
    """Insert campaigns that have their ids."""
    rows = [list(_stored(campaign).values()) for campaign in campaigns]
    await insert_rows(connection, CampaignRow, _NAMES, rows)


async def update_all(connection: AsyncConnection, campaigns: Iterable[Campaign]) -> None:
    """Write all columns of campaigns that this transaction has locked."""
    values = [parameters(campaign) for campaign in campaigns]
    if len(values) == 1:
        await UPDATE.alone.run(connection, values[0])
    elif values:
        await connection.execute(_UPDATE, values)


async def remove(connection: AsyncConnection, id: int) -> None:
    """Remove a campaign."""
    await connection.execute(delete(CampaignRow).where(CampaignRow.id == id))


async def of_advertiser(
    connection: AsyncConnection, advertiser_id: int, limit: int
) -> tuple[list[int], int]:
    """The first campaigns of an advertiser, and the total."""
    return await _first_and_total(connection, [CampaignRow.advertiser_id == advertiser_id], limit)


async def using_attribute(
    connection: AsyncConnection, name: str, since: int | None, limit: int
) -> tuple[list[int], int]:
    """The first campaigns that use an attribute, and the total, without archived ones. With
    `since`, only campaigns that were written after that rev."""
    return await _first_and_total(connection, _uses(connection, name, since), limit)


async def trees_using_attribute(
    connection: AsyncConnection, name: str, since: int | None
) -> AsyncIterator[Sequence[tuple[int, str]]]:
    """The ids and the stored trees of the campaigns that use an attribute, as above, in parts."""
    where = _uses(connection, name, since)
    query = select(CampaignRow.id, CampaignRow.tree).where(*where).order_by(CampaignRow.id)
    last = 0
    while True:
        page = query.where(CampaignRow.id > last).limit(_ROWS_A_FETCH)
        part = [(id, tree) for id, tree in await connection.execute(page)]
        if not part:
            return
        yield part
        last = part[-1][0]


def _uses(connection: AsyncConnection, name: str, since: int | None) -> list[ColumnElement[bool]]:
    find = func.strpos if connection.dialect.name == "postgresql" else func.instr
    where = [
        CampaignRow.status != ARCHIVED,
        find(CampaignRow.attribute_names, json.dumps(name)) > 0,
    ]
    if since is not None:
        where.append(CampaignRow.rev > since)
    return where


async def with_fingerprint(
    connection: AsyncConnection, fingerprint: str, but: int | None, limit: int
) -> list[int]:
    """Campaigns with the same normal form, without archived ones and `but`."""
    query = (
        select(CampaignRow.id)
        .where(CampaignRow.fingerprint == fingerprint, CampaignRow.status != ARCHIVED)
        .order_by(CampaignRow.id)
        .limit(limit)
    )
    if but is not None:
        query = query.where(CampaignRow.id != but)
    return list((await connection.execute(query)).scalars())


async def active_versions(connection: AsyncConnection) -> tuple["array[int]", "array[int]"]:
    """The ids and the versions of all active campaigns, in 16 bytes each."""
    ids, versions = array("q"), array("q")
    query = select(CampaignRow.id, CampaignRow.version).where(CampaignRow.status == ACTIVE)
    async with connection.stream(query) as rows:
        async for part in rows.partitions(_ROWS_A_FETCH):
            for id, version in part:
                ids.append(id)
                versions.append(version)
    return ids, versions


async def _first_and_total(
    connection: AsyncConnection, where: Sequence[ColumnElement[bool]], limit: int
) -> tuple[list[int], int]:
    query = select(CampaignRow.id).where(*where).order_by(CampaignRow.id).limit(limit)
    first = list((await connection.execute(query)).scalars())
    if len(first) < limit:
        return first, len(first)
    counted = await connection.execute(select(func.count()).select_from(CampaignRow).where(*where))
    return first, int(counted.scalar_one())


def _one_of(external_ids: Collection[str]) -> ColumnElement[bool]:
    return CampaignRow.external_id.in_(sorted(external_ids))


def _campaign(row: Any) -> Campaign:
    values = dict(zip(_NAMES, row, strict=True))
    values |= {name: tuple(values[name]) for name in _LISTS}
    values["attribute_names"] = tuple(orjson.loads(values["attribute_names"]))
    return Campaign(**values)


def parameters(campaign: Campaign) -> dict[str, Any]:
    """The parameters of a statement that writes the campaign."""
    return {f"new_{name}": value for name, value in _stored(campaign).items()}


def _stored(campaign: Campaign) -> dict[str, Any]:
    values = {name: getattr(campaign, name) for name in _NAMES}
    values |= {name: list(values[name]) for name in _LISTS}
    values["attribute_names"] = names_to_json(campaign.attribute_names)
    return values
