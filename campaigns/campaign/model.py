"""A campaign: its fields, and its change for the feed.

A new field that the index does not need takes a line here, a column in `database/tables.py` and a
migration.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated, Any, ClassVar

import orjson

from campaigns.campaign.statuses import ACTIVE, CAMPAIGN_STATUSES
from campaigns.campaign.targeting import EVERYTHING, Targeting
from campaigns.errors import FieldProblem
from campaigns.fields import ANY_TEXT, MAX_ID, MAX_NAME, Integer, Moment, OneOf, Text, Texts
from campaigns.log.changes import CAMPAIGN, NewChange, encode
from campaigns.record import CreatedAt, Field, Id, Record, Rev, UpdatedAt, Version
from campaigns.timestamps import seconds, written
from index.language import ExpressionWarning
from index.score import MAX_BID_MICROS, MAX_PRIORITY

BID_UNIT = "the bid in millionths of a US dollar for a thousand impressions (CPM)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign(Record):
    """A campaign as it is stored. `tree`, `attribute_names` and `fingerprint` are derived from the
    targeting."""

    kind: ClassVar = CAMPAIGN

    id: Id
    external_id: Annotated[
        str | None,
        Field(Text(MAX_NAME), "your own id; unique among all campaigns", "spring-24"),
    ] = None
    advertiser_id: Annotated[int, Field(Integer(1, MAX_ID), "an advertiser that exists", 1)]
    name: Annotated[str, Field(Text(MAX_NAME), example="Spring")]
    status: Annotated[
        str,
        Field(
            OneOf(CAMPAIGN_STATUSES),
            example=ACTIVE,
            read_only="the status changes by activate, pause and archive",
        ),
    ]
    starts_at: Annotated[
        datetime | None,
        Field(Moment(), "the campaign serves from this time on", "2026-11-01T00:00:00Z"),
    ] = None
    ends_at: Annotated[datetime | None, Field(Moment(), "the campaign serves before this time")] = (
        None
    )
    priority: Annotated[int, Field(Integer(0, MAX_PRIORITY), "a higher priority goes first", 5)] = 0
    bid_micros: Annotated[
        int,
        Field(
            Integer(0, MAX_BID_MICROS),
            f"{BID_UNIT}; of equal priority, the higher bid goes first",
            1_200_000,
        ),
    ] = 0
    categories: Annotated[
        tuple[str, ...], Field(Texts(most=100, longest=100), example=["IAB2"])
    ] = ()
    targeting: Annotated[
        str,
        Field(
            ANY_TEXT,
            "an expression over the attributes of the catalogue",
            "country in ('US', 'CA') and device.type = 'phone'",
        ),
    ] = EVERYTHING
    tree: str
    attribute_names: tuple[str, ...]
    fingerprint: str
    version: Version
    rev: Rev
    created_at: CreatedAt
    updated_at: UpdatedAt
    warnings: tuple[ExpressionWarning, ...] = field(default=(), compare=False)
    """What is probably not meant, if its targeting was checked just now."""

    def change(self) -> NewChange:
        """All that the index needs of an active campaign; little of any other."""
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
        """The campaign with other values; a new targeting also changes what is derived from it."""
        derived = {} if targeting is None else _derived(targeting)
        return replace(self, **{**values, **derived})

    def written(self, rev: int, at: datetime) -> "Campaign":
        """The campaign after one more write."""
        return replace(self, version=self.version + 1, rev=rev, updated_at=at)


def new_campaign(
    values: Mapping[str, Any], status: str, targeting: Targeting, rev: int, at: datetime
) -> Campaign:
    """The first version of a campaign. Its id is 0 until the database assigns one."""
    numbers = {"id": 0, "status": status, "version": 1, "rev": rev}
    times = {"created_at": at, "updated_at": at}
    return Campaign(**{**values, **_derived(targeting), **numbers, **times})


def check_window(starts_at: datetime | None, ends_at: datetime | None) -> list[FieldProblem]:
    """The window `[starts_at, ends_at)` must not be empty."""
    if starts_at is None or ends_at is None or starts_at < ends_at:
        return []
    return [FieldProblem("/ends_at", "window.empty", "ends_at must be later than starts_at")]


def flight_warnings(campaign: Campaign, now: datetime) -> list[ExpressionWarning]:
    """Warns about a campaign that will not serve any more."""
    if campaign.ends_at is None or campaign.ends_at > now:
        return []
    ended = written(campaign.ends_at)
    message = f"it ended at {ended} and will not serve"
    return [ExpressionWarning("ended", message, suggestion="move ends_at", pointer="/ends_at")]


def _derived(targeting: Targeting) -> dict[str, Any]:
    return {
        "targeting": targeting.text,
        "tree": targeting.tree,
        "attribute_names": targeting.attribute_names,
        "fingerprint": targeting.fingerprint,
        "warnings": targeting.warnings,
    }
