"""A version of the statistics as it is stored, without its document and its sample."""

from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from campaigns.log.changes import STATISTICS, NewChange, encode
from campaigns.timestamps import seconds, written

UNJUDGED = "unjudged"
PASSED = "passed"
FAILED = "failed"


@dataclass(frozen=True, slots=True)
class StatisticsVersion:
    """One version. Its content never changes; its findings and whether it is active do.
    `previous_id` was active before it."""

    id: int
    checksum: str
    window_from: datetime
    window_to: datetime
    days: list[str]
    rows: int
    quarantined: int
    requests: float
    sample_rows: int
    sample_rate: float
    gates: str
    findings: list[dict[str, Any]]
    drift: dict[str, Any] | None
    active: bool
    previous_id: int | None
    activated_at: datetime | None
    created_at: datetime
    rev: int

    def to_dict(self) -> dict[str, Any]:
        """The version as clients see it."""
        return {
            "id": self.id,
            "checksum": self.checksum,
            "window": {
                "from": written(self.window_from),
                "to": written(self.window_to),
                "days": self.days,
            },
            "rows": self.rows,
            "quarantined": self.quarantined,
            "requests": self.requests,
            "sample": {"rows": self.sample_rows, "rate": self.sample_rate},
            "gates": self.gates,
            "findings": self.findings,
            "drift": self.drift,
            "active": self.active,
            "previous_id": self.previous_id,
            "activated_at": written(self.activated_at),
            "created_at": written(self.created_at),
            "rev": self.rev,
        }

    def change(self) -> NewChange:
        """The change for the log. The document is large: replicas fetch it aside, by its id, and
        verify its checksum."""
        content = {
            "id": self.id,
            "checksum": self.checksum,
            "from": seconds(self.window_from),
            "to": seconds(self.window_to),
            "active": self.active,
        }
        return NewChange(STATISTICS, str(self.id), encode(content))


COLUMNS = tuple(field.name for field in fields(StatisticsVersion))
