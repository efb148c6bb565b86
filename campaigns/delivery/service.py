"""Delivery: add what a worker has counted, read it for campaigns, forget what is old."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from campaigns.advertiser import repository as advertisers
from campaigns.campaign import repository as campaigns
from campaigns.campaign.model import Campaign
from campaigns.database.retry import retried
from campaigns.delivery import repository as rows
from campaigns.delivery.model import HOUR, Counts, HourOfDelivery, State, state_of, totals
from campaigns.log.changes import CAMPAIGN
from campaigns.record import found
from campaigns.store import Store

DAY = 24


@dataclass(frozen=True, slots=True)
class Delivery:
    """A campaign with the hours that were asked for, and its state."""

    campaign: Campaign
    state: State
    since: int
    hours: Sequence[HourOfDelivery]


@dataclass(frozen=True, slots=True)
class Summary:
    """A campaign with its state, and the totals of this hour with the last one, and of a day."""

    campaign_id: int
    state: State
    hour: dict[str, Any]
    day: dict[str, Any]


@retried
async def add(store: Store, hour: int, counts: Counts) -> None:
    """Add what was counted in an hour to what other workers have counted."""
    async with store.database.write() as connection:
        await rows.add(connection, hour, counts)


async def read(store: Store, id: int, hours: int) -> Delivery:
    """The delivery of a campaign in the last `hours`, this one included."""
    now = int(store.now().timestamp()) // HOUR
    async with store.database.read() as connection:
        campaign = found(await campaigns.get(connection, id), CAMPAIGN, id)
        owner = await advertisers.get(connection, campaign.advertiser_id)
        first = now - max(hours, DAY) + 1
        known = (await rows.hours_of(connection, [id], first, reasons=True)).get(id, [])
    day = totals(each for each in known if each.hour > now - DAY)
    status = owner.status if owner else ""
    since = now - hours + 1
    asked = [each for each in known if each.hour >= since]
    return Delivery(campaign, state_of(campaign, status, day, store.now()), since, asked)


async def summaries(store: Store, ids: Sequence[int]) -> list[Summary]:
    """The state and the totals of campaigns; unknown ids are left out."""
    now = int(store.now().timestamp()) // HOUR
    async with store.database.read() as connection:
        listed = await campaigns.several(connection, ids)
        owners = {each.advertiser_id for each in listed}
        statuses = {
            id: owner.status for id in owners if (owner := await advertisers.get(connection, id))
        }
        hours = await rows.hours_of(connection, ids, now - DAY + 1, reasons=False)
    summed = []
    for campaign in listed:
        known = hours.get(campaign.id, [])
        day = totals(known)
        status = statuses.get(campaign.advertiser_id, "")
        state = state_of(campaign, status, day, store.now())
        recent = totals(each for each in known if each.hour >= now - 1)
        summed.append(Summary(campaign.id, state, recent, day))
    return summed


@retried
async def forget(store: Store, older_than: timedelta) -> int:
    """Remove old hours; returns the number of rows."""
    before = int((store.now() - older_than).timestamp()) // HOUR
    async with store.database.write() as connection:
        return await rows.forget(connection, before)
