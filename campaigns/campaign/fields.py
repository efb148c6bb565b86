"""The fields of a campaign as they are sent: what each may be, and what it is when left out."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from campaigns.campaign.statuses import CAMPAIGN_STATUSES
from campaigns.campaign.targeting import EVERYTHING
from campaigns.errors import FieldProblem
from campaigns.fields import (
    MAX_ID,
    Check,
    any_text,
    check_fields,
    integer,
    missing,
    moment,
    one_of,
    text,
    texts,
)
from index.score import MAX_BID_MICROS, MAX_PRIORITY

FIELDS: dict[str, Check] = {
    "external_id": text(200),
    "advertiser_id": integer(1, MAX_ID),
    "name": text(200),
    "starts_at": moment,
    "ends_at": moment,
    "priority": integer(0, MAX_PRIORITY),
    "bid_micros": integer(0, MAX_BID_MICROS),
    "categories": texts(most=100, longest=100),
    "targeting": any_text,
}

IMPORTED_FIELDS = FIELDS | {"status": one_of(*CAMPAIGN_STATUSES)}

DEFAULTS: dict[str, Any] = {
    "external_id": None,
    "starts_at": None,
    "ends_at": None,
    "priority": 0,
    "bid_micros": 0,
    "categories": (),
    "targeting": EVERYTHING,
}

_READ_ONLY = {
    name: f"{name} is not for writing"
    for name in ("id", "version", "rev", "created_at", "updated_at")
}
_BY_ACTION = {"status": "the status changes by activate, pause and archive"}


def check_new(sent: Mapping[str, Any]) -> tuple[dict[str, Any], list[FieldProblem]]:
    """The fields of a campaign to be, defaults included, and what is wrong with them."""
    values, problems = check_fields(sent, FIELDS, DEFAULTS, _READ_ONLY | _BY_ACTION)
    problems += missing(sent, FIELDS, DEFAULTS)
    return DEFAULTS | values, problems


def check_changes(sent: Mapping[str, Any]) -> tuple[dict[str, Any], list[FieldProblem]]:
    """The fields to change, and what is wrong with them."""
    return check_fields(sent, FIELDS, DEFAULTS, _READ_ONLY | _BY_ACTION)


def check_imported(sent: Mapping[str, Any]) -> tuple[dict[str, Any], list[FieldProblem]]:
    """The fields of a line of an import, which may have a status, and what is wrong with them."""
    return check_fields(sent, IMPORTED_FIELDS, DEFAULTS, _READ_ONLY)


def missing_fields(sent: Mapping[str, Any]) -> list[FieldProblem]:
    """What a campaign that does not exist yet lacks."""
    return missing(sent, FIELDS, DEFAULTS)


def check_window(starts_at: datetime | None, ends_at: datetime | None) -> list[FieldProblem]:
    """A flight has to last: `[starts_at, ends_at)` must not be empty."""
    if starts_at is None or ends_at is None or starts_at < ends_at:
        return []
    return [FieldProblem("/ends_at", "window.empty", "ends_at must be later than starts_at")]
