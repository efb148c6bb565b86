"""`changes` and `audit_log`: what the revs of a transaction were given to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Insert, Update, bindparam, delete, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from campaigns.database.bulk import insert_rows
from campaigns.database.prepared import Prepared
from campaigns.database.tables import AuditRow, Base, ChangeRow
from campaigns.log import audit_entry
from campaigns.log.audit_entry import AuditEntry
from campaigns.log.changes import Change, NewChange

_CHANGE_COLUMNS = ("rev", "kind", "object_id", "nonce", "payload", "at")
_AUDIT_COLUMNS = ("at", "actor", "action", "kind", "object_id", "before", "after", "rev")


def _inserting(row: type[Base], columns: Sequence[str], **renamed: str) -> Insert:
    """The insert of a row whose values are called `new_…`."""
    values: dict[str, Any] = {name: bindparam(f"new_{renamed.get(name, name)}") for name in columns}
    return insert(Base.metadata.tables[row.__tablename__]).values(values)


_NEW_CHANGE = _inserting(ChangeRow, _CHANGE_COLUMNS, at="moment")
_NEW_AUDIT = _inserting(AuditRow, _AUDIT_COLUMNS)
_ADD_CHANGE = Prepared(_NEW_CHANGE)
_ADD_AUDIT = Prepared(_NEW_AUDIT)
_ADD_BOTH = Prepared(_NEW_AUDIT.add_cte(_NEW_CHANGE.cte("change")))
"""In one round trip; SQLite, which has none, has no such statement either."""


class RowUpdate:
    """An update of a row whose values are called `new_…`, which goes together with its change and
    its audit entry: every round trip is a wait of all other writers for the head."""

    def __init__(self, statement: Update) -> None:
        self.alone = Prepared(statement)
        self.with_both = Prepared(
            _NEW_AUDIT.add_cte(_NEW_CHANGE.cte("change"), statement.cte("row"))
        )


@dataclass(frozen=True, slots=True)
class LogEntry:
    """A change and its audit entry, which share their object and their rev."""

    change: NewChange
    action: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None


async def append(
    connection: AsyncConnection, first: int, actor: str, at: datetime, entries: Sequence[LogEntry]
) -> None:
    """Write the entries with the revs from `first` on."""
    if len(entries) == 1:
        await append_one(connection, first, actor, at, entries[0])
        return
    moment = at.timestamp()
    changes, audited = [], []
    for rev, entry in enumerate(entries, first):
        change = entry.change
        kind, object_id = change.kind, change.object_id
        changes.append((rev, kind, object_id, change.nonce, change.payload.decode(), moment))
        audited.append((at, actor, entry.action, kind, object_id, entry.before, entry.after, rev))
    await insert_rows(connection, ChangeRow, _CHANGE_COLUMNS, changes)
    await insert_rows(connection, AuditRow, _AUDIT_COLUMNS, audited)


async def append_one(
    connection: AsyncConnection,
    rev: int,
    actor: str,
    at: datetime,
    entry: LogEntry,
    row: RowUpdate | None = None,
    row_values: Mapping[str, Any] | None = None,
) -> None:
    """Write an entry, and first update its row, if there is one to update."""
    change = entry.change
    values = {
        **(row_values or {}),
        "new_rev": rev,
        "new_kind": change.kind,
        "new_object_id": change.object_id,
        "new_nonce": change.nonce,
        "new_payload": change.payload.decode(),
        "new_moment": at.timestamp(),
        "new_at": at,
        "new_actor": actor,
        "new_action": entry.action,
        "new_before": entry.before,
        "new_after": entry.after,
    }
    if connection.dialect.name == "postgresql":
        await (row.with_both if row else _ADD_BOTH).run(connection, values)
    else:
        if row is not None:
            await row.alone.run(connection, row_values or {})
        await _ADD_CHANGE.run(connection, values)
        await _ADD_AUDIT.run(connection, values)


async def append_audit(
    connection: AsyncConnection, rev: int, actor: str, at: datetime, action: str, kind: str
) -> None:
    """Write an audit entry for what changed no object."""
    row = (at, actor, action, kind, "", None, None, rev)
    await insert_rows(connection, AuditRow, _AUDIT_COLUMNS, [row])


async def changes_after(connection: AsyncConnection, rev: int, limit: int) -> list[Change]:
    """The next changes of the log, in order."""
    columns = [getattr(ChangeRow, name) for name in _CHANGE_COLUMNS]
    rows = await connection.execute(
        select(*columns).where(ChangeRow.rev > rev).order_by(ChangeRow.rev).limit(limit)
    )
    return [
        Change(row.rev, row.kind, row.object_id, row.nonce, row.payload.encode(), row.at)
        for row in rows
    ]


async def oldest_changes(connection: AsyncConnection, limit: int) -> list[tuple[int, float]]:
    """The rev and the moment of the oldest changes there are."""
    rows = await connection.execute(
        select(ChangeRow.rev, ChangeRow.at).order_by(ChangeRow.rev).limit(limit)
    )
    return [(row.rev, row.at) for row in rows]


async def remove_changes(connection: AsyncConnection, up_to: int) -> int:
    """Remove the changes up to a rev; how many there were."""
    removed = await connection.execute(delete(ChangeRow).where(ChangeRow.rev <= up_to))
    return int(removed.rowcount)


async def audit_page(
    connection: AsyncConnection, filters: dict[str, str], before_id: int | None, limit: int
) -> list[AuditEntry]:
    """Entries from the newest on, or from below an id; ids grow in the order of commits."""
    columns = [getattr(AuditRow, name) for name in audit_entry.COLUMNS]
    query = select(*columns).order_by(AuditRow.id.desc()).limit(limit)
    for name, value in filters.items():
        query = query.where(getattr(AuditRow, name) == value)
    if before_id is not None:
        query = query.where(AuditRow.id < before_id)
    return [AuditEntry(*row) for row in await connection.execute(query)]
