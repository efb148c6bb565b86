"""The form of a campaign: from the API's fields to what a person reads and types, and back.

A form also carries the values that it was opened with (`base`). Only what the person has changed is
sent, so that two people who change different fields do not undo each other's work.
"""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

_NUMBER = re.compile(r"-?[0-9]{1,18}")
_MONEY = re.compile(r"-?[0-9]{1,12}(\.[0-9]{1,6})?")

TEXT_FIELDS = (
    "name",
    "advertiser_id",
    "external_id",
    "priority",
    "bid",
    "starts_at",
    "ends_at",
    "categories",
    "targeting",
)
"""The fields in the order of the form."""

LABELS = {
    "name": "Name",
    "advertiser_id": "Advertiser",
    "external_id": "Your own id",
    "status": "Status",
    "priority": "Priority",
    "bid": "Bid (USD, CPM)",
    "bid_micros": "Bid (USD, CPM)",
    "starts_at": "Starts (UTC)",
    "ends_at": "Ends (UTC)",
    "categories": "Categories",
    "targeting": "Targeting",
}

EMPTY: dict[str, str] = {
    "name": "",
    "advertiser_id": "",
    "external_id": "",
    "priority": "0",
    "bid": "0.00",
    "starts_at": "",
    "ends_at": "",
    "categories": "",
    "targeting": "true",
}


def to_form(campaign: Mapping[str, Any]) -> dict[str, str]:
    """The texts of the form's fields."""
    return {
        "name": campaign["name"],
        "advertiser_id": str(campaign["advertiser_id"]),
        "external_id": campaign["external_id"] or "",
        "priority": str(campaign["priority"]),
        "bid": f"{Decimal(campaign['bid_micros']) / 1_000_000:.6f}".rstrip("0").rstrip("."),
        "starts_at": _local(campaign["starts_at"]),
        "ends_at": _local(campaign["ends_at"]),
        "categories": " ".join(campaign["categories"]),
        "targeting": campaign["targeting"],
    }


def changed(form: Mapping[str, str], base: Mapping[str, str]) -> dict[str, Any]:
    """The fields that differ from `base`, as the API takes them. What is no number stays text: the
    API says what is wrong with it."""
    return {
        "bid_micros" if name == "bid" else name: _value(name, form[name])
        for name in TEXT_FIELDS
        if name in form and _plain(form[name]) != _plain(base.get(name, ""))
    }


def read_base(text: str) -> dict[str, str]:
    """The values that a form was opened with."""
    try:
        base = json.loads(text)
    except ValueError:
        return {}
    return {str(k): str(v) for k, v in base.items()} if isinstance(base, dict) else {}


def _value(name: str, text: str) -> Any:
    if name == "targeting":
        return _plain(text)
    text = text.strip()
    if name == "categories":
        return text.split()
    if not text:
        return None
    if name in ("advertiser_id", "priority"):
        return int(text) if _NUMBER.fullmatch(text) else text
    if name == "bid":
        return int(Decimal(text) * 1_000_000) if _MONEY.fullmatch(text) else text
    if name in ("starts_at", "ends_at"):
        return f"{text}Z" if "T" in text and not text.endswith("Z") else text
    return text


def _plain(text: str) -> str:
    """Browsers send line breaks as CR LF."""
    return text.replace("\r\n", "\n").strip()


def _local(moment: str | None) -> str:
    """A time as an input of type datetime-local has it, in UTC."""
    if moment is None:
        return ""
    utc = datetime.fromisoformat(moment).astimezone(UTC)
    return utc.strftime("%Y-%m-%dT%H:%M:%S" if utc.second else "%Y-%m-%dT%H:%M")
