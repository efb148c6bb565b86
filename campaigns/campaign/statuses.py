"""The statuses of campaigns and advertisers, and the transitions between them.

    draft ──▶ active ◀──▶ paused          active ◀──▶ paused
      │         │           │             (a paused advertiser takes all its campaigns out)
      └─────────┴───────────┴──▶ archived

Only an active campaign is in the index. An archived campaign cannot change, and no longer blocks
changes to the attributes that it uses. A campaign can be deleted in every status but active.
"""

from typing import Literal, get_args

CampaignStatus = Literal["draft", "active", "paused", "archived"]
AdvertiserStatus = Literal["active", "paused"]

CAMPAIGN_STATUSES: tuple[str, ...] = get_args(CampaignStatus)
ADVERTISER_STATUSES: tuple[str, ...] = get_args(AdvertiserStatus)

DRAFT, ACTIVE, PAUSED, ARCHIVED = CAMPAIGN_STATUSES

CAMPAIGN_TRANSITIONS: dict[str, frozenset[str]] = {
    DRAFT: frozenset({ACTIVE, ARCHIVED}),
    ACTIVE: frozenset({PAUSED, ARCHIVED}),
    PAUSED: frozenset({ACTIVE, ARCHIVED}),
    ARCHIVED: frozenset(),
}

ADVERTISER_TRANSITIONS: dict[str, frozenset[str]] = {
    ACTIVE: frozenset({PAUSED}),
    PAUSED: frozenset({ACTIVE}),
}
