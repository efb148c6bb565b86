"""The audit log: who changed what, the newest first."""

from dataclasses import asdict, dataclass

from campaigns.database.pagination import Page, check_filter, check_limit, id_in, page_of
from campaigns.fields import any_text
from campaigns.log import repository as log
from campaigns.log.audit_entry import AuditEntry
from campaigns.store import Store


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which entries a list shows."""

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
        check_filter(name, value, any_text)
    before = id_in(cursor, filters)
    async with store.database.read() as connection:
        found = await log.audit_page(connection, asked, before, limit + 1)
    return page_of(found, limit, lambda entry: entry.id, filters)
