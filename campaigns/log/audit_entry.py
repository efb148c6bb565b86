"""An entry of the audit log: who did what to which object, and what it was before and after."""

from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from campaigns.timestamps import written


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One write; `before` is None for what was created, `after` for what was removed."""

    id: int
    at: datetime
    actor: str
    action: str
    kind: str
    object_id: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    rev: int

    def to_dict(self) -> dict[str, Any]:
        """The entry as people see it."""
        return {
            "id": self.id,
            "at": written(self.at),
            "actor": self.actor,
            "action": self.action,
            "kind": self.kind,
            "object_id": self.object_id,
            "before": self.before,
            "after": self.after,
            "rev": self.rev,
        }


COLUMNS = tuple(field.name for field in fields(AuditEntry))
