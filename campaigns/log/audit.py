"""The audit log: who changed what, newest first."""

from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any

from campaigns.database.pagination import Page, check_filter, check_limit, id_in, page_of
from campaigns.fields import ANY_TEXT
from campaigns.log import repository as log
from campaigns.store import Store
from campaigns.timestamps import written


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One write; `before` is None if it created the object, `after` if it removed it. `actor_name`
    is the name of the key that made it; None if it was made without a key."""

    id: int
    at: datetime
    actor: str
    actor_name: str | None
    action: str
    kind: str
    object_id: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    rev: int

    def to_dict(self) -> dict[str, Any]:
        """The entry as clients see it."""
        shown = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**shown, "at": written(self.at)}


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which entries to list."""

    kind: str | None = None
    object_id: str | None = None
    actor: str | None = None
    action: str | None = None


async def page(
    store: Store,
    filters: AuditFilter = AuditFilter(),  # noqa: B008 (immutable)
    limit: int = 50,
    cursor: str | None = None,
) -> Page[AuditEntry]:
    """Entries from the newest to the oldest."""
    check_limit(limit)
    asked = {name: value for name, value in asdict(filters).items() if value is not None}
    for name, value in asked.items():
        check_filter(name, value, ANY_TEXT)
    before = id_in(cursor, filters)
    async with store.database.read() as connection:
        rows = await log.audit_page(connection, asked, before, limit + 1)
    entries = [AuditEntry(**row) for row in rows]
    return page_of(entries, limit, lambda entry: entry.id, filters)
