"""A campaign: its record, its shape for people, its change for the feed."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any

import orjson

from campaigns.campaign.statuses import ACTIVE
from campaigns.campaign.targeting import Targeting
from campaigns.log.changes import CAMPAIGN, NewChange, encode
from campaigns.timestamps import seconds, written


@dataclass(frozen=True, slots=True)
class Campaign:
    """A campaign as it is stored."""

    id: int
    external_id: str | None
    advertiser_id: int
    name: str
    status: str
    starts_at: datetime | None
    ends_at: datetime | None
    priority: int
    bid_micros: int
    categories: tuple[str, ...]
    targeting: str
    tree: str
    attribute_names: tuple[str, ...]
    fingerprint: str
    version: int
    rev: int
    created_at: datetime
    updated_at: datetime

    def to_dict(self) -> dict[str, Any]:
        """The campaign as people see it; what is derived from the targeting is left out."""
        return {
            "id": self.id,
            "external_id": self.external_id,
            "advertiser_id": self.advertiser_id,
            "name": self.name,
            "status": self.status,
            "starts_at": written(self.starts_at),
            "ends_at": written(self.ends_at),
            "priority": self.priority,
            "bid_micros": self.bid_micros,
            "categories": list(self.categories),
            "targeting": self.targeting,
            "version": self.version,
            "rev": self.rev,
            "created_at": written(self.created_at),
            "updated_at": written(self.updated_at),
        }

    def change(self) -> NewChange:
        """What the replicas are told: everything of an active campaign, little of another."""
        content: dict[str, Any] = {
            "id": self.id,
            "version": self.version,
            "status": self.status,
            "advertiser_id": self.advertiser_id,
        }
        if self.status == ACTIVE:
            content |= {
                "priority": self.priority,
                "bid_micros": self.bid_micros,
                "starts_at": seconds(self.starts_at),
                "ends_at": seconds(self.ends_at),
                "categories": self.categories,
                "tree": orjson.Fragment(self.tree),
            }
        return NewChange(CAMPAIGN, str(self.id), encode(content))

    def changed(self, values: Mapping[str, Any], targeting: Targeting | None) -> "Campaign":
        """The campaign with other values; of a new targeting also what is derived from it."""
        derived = {} if targeting is None else _derived(targeting)
        return replace(self, **{**values, **derived})

    def written(self, rev: int, at: datetime) -> "Campaign":
        """The campaign after one more write."""
        return replace(self, version=self.version + 1, rev=rev, updated_at=at)


COLUMNS = tuple(field.name for field in fields(Campaign))


def new_campaign(
    values: Mapping[str, Any], status: str, targeting: Targeting, rev: int, at: datetime
) -> Campaign:
    """The first version of a campaign; its id, still 0, is the database's to give."""
    numbers = {"id": 0, "status": status, "version": 1, "rev": rev}
    times = {"created_at": at, "updated_at": at}
    return Campaign(**{**values, **_derived(targeting), **numbers, **times})


def _derived(targeting: Targeting) -> dict[str, Any]:
    return {
        "targeting": targeting.text,
        "tree": targeting.tree,
        "attribute_names": targeting.attribute_names,
        "fingerprint": targeting.fingerprint,
    }
