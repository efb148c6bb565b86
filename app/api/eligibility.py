"""Why a campaign is not eligible, whatever is requested: its status and flight, its advertiser."""

from datetime import UTC, datetime

from campaigns.advertiser.model import Advertiser
from campaigns.campaign.model import Campaign
from campaigns.campaign.statuses import ACTIVE

Reason = tuple[str, str]
"""A code and a detail."""

PAUSED: Reason = ("advertiser_paused", "its advertiser is paused")
EXCLUDED: Reason = ("excluded", "the request excludes it")


def reasons(campaign: Campaign, owner: Advertiser, now: float) -> list[Reason]:
    """Everything that stands in the way; `now` in epoch seconds."""
    found: list[Reason] = []
    if campaign.status != ACTIVE:
        found.append((campaign.status, f"the campaign is {campaign.status}"))
    if owner.status != ACTIVE:
        found.append(("advertiser_paused", f"its advertiser {owner.id} is {owner.status}"))
    return found + flight(campaign.starts_at, campaign.ends_at, datetime.fromtimestamp(now, UTC))


def flight(start: datetime | None, end: datetime | None, now: datetime) -> list[Reason]:
    """Whether it has not started, or is over."""
    if start is not None and now < start:
        return [("not_started", f"it starts at {start.isoformat()}")]
    if end is not None and now >= end:
        return [("over", f"it ended at {end.isoformat()}")]
    return []
