"""An advertiser: its fields and their rules, its change for the feed, its shape for people."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from campaigns.errors import FieldProblem
from campaigns.fields import Check, check_fields, domain, missing, text
from campaigns.log.changes import ADVERTISER, NewChange, encode
from campaigns.timestamps import written

FIELDS: dict[str, Check] = {"name": text(200), "domain": domain}
DEFAULTS: dict[str, Any] = {"domain": None}

_REFUSED = {
    name: f"{name} is not for writing"
    for name in ("id", "version", "rev", "created_at", "updated_at")
} | {"status": "the status changes by pause and resume"}


@dataclass(frozen=True, slots=True)
class Advertiser:
    """An advertiser as it is stored."""

    id: int
    name: str
    domain: str | None
    status: str
    version: int
    rev: int
    created_at: datetime
    updated_at: datetime

    def to_dict(self) -> dict[str, Any]:
        """The advertiser as people see it."""
        return {
            "id": self.id,
            "name": self.name,
            "domain": self.domain,
            "status": self.status,
            "version": self.version,
            "rev": self.rev,
            "created_at": written(self.created_at),
            "updated_at": written(self.updated_at),
        }

    def change(self) -> NewChange:
        """What the replicas are told."""
        content = {
            "id": self.id,
            "version": self.version,
            "status": self.status,
            "domain": self.domain,
        }
        return NewChange(ADVERTISER, str(self.id), encode(content))


COLUMNS = tuple(field.name for field in fields(Advertiser))


def check_new(sent: Mapping[str, Any]) -> tuple[dict[str, Any], list[FieldProblem]]:
    """The fields of an advertiser to be, defaults included, and what is wrong with them."""
    values, problems = check_changes(sent)
    return DEFAULTS | values, problems + missing(sent, FIELDS, DEFAULTS)


def check_changes(sent: Mapping[str, Any]) -> tuple[dict[str, Any], list[FieldProblem]]:
    """The fields to change, and what is wrong with them."""
    return check_fields(sent, FIELDS, DEFAULTS, _REFUSED)
