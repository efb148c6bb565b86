"""A change: one entry of the log that every replica follows.

The log has no gaps and is in commit order: a replica at rev r that applies the change r + 1 holds
exactly what the database held at r + 1. A payload is the whole new state of its object, as far as a
replica needs it, so to apply a change twice does no harm:

    campaign, active    {"id", "version", "status", "advertiser_id", "priority", "bid_micros",
                         "starts_at", "ends_at", "categories", "tree"}
    campaign, else      {"id", "version", "status", "advertiser_id"}
    advertiser          {"id", "version", "status", "domain"}
    attribute           {"name", "type"}
    key                 {"id", "prefix", "secret_hash", "scopes", "expires_at", "revoked"}
    statistics          {"id", "checksum", "from", "to", "active"}
    operator            {"name", "type", "url", "entry_point", "arguments", "result", "timeout_ms",
                         "budget_ms", "cache_seconds", "cache_entries", "cost_us"}
    anything removed    null

Times are epoch seconds; `tree` is the JSON form of `index.language.json_form`. Statistics are
large: the change only names the version, and a replica fetches it aside.
"""

import secrets
from dataclasses import dataclass, field
from typing import Any

import orjson

CAMPAIGN = "campaign"
ADVERTISER = "advertiser"
ATTRIBUTE = "attribute"
KEY = "key"
STATISTICS = "statistics"
OPERATOR = "operator"

KINDS = (CAMPAIGN, ADVERTISER, ATTRIBUTE, KEY, STATISTICS, OPERATOR)

REMOVED = b"null"
"""The payload of a change that removed its object."""

CHANNEL = "copse_changes"
"""The NOTIFY channel of Postgres: a message for each commit, with its last rev."""


def new_nonce() -> str:
    """16 random hex digits, which distinguish two histories at the same rev."""
    return secrets.token_hex(8)


@dataclass(frozen=True, slots=True)
class Change:
    """One committed change; `at` is the time of its write, in epoch seconds."""

    rev: int
    kind: str
    object_id: str
    nonce: str
    payload: bytes
    at: float

    @property
    def removed(self) -> bool:
        """Whether the object was removed."""
        return self.payload == REMOVED

    def content(self) -> dict[str, Any] | None:
        """The parsed payload; None if the object was removed."""
        content: dict[str, Any] | None = orjson.loads(self.payload)
        return content


@dataclass(frozen=True, slots=True)
class NewChange:
    """A change without a rev: the transaction assigns it at its end."""

    kind: str
    object_id: str
    payload: bytes = REMOVED
    nonce: str = field(default_factory=new_nonce)


def encode(content: dict[str, Any] | None) -> bytes:
    """Compact JSON for a payload; an `orjson.Fragment` in it stays as it is."""
    return orjson.dumps(content)
