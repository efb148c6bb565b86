"""The SQL of `changes`, `audit_log` and `idempotency`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from sqlalchemy import (
    Insert,
    RowMapping,
    Update,
    bindparam,
    delete,
    insert,
    literal,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from campaigns.database.bulk import insert_rows
from campaigns.database.prepared import Prepared
from campaigns.database.tables import ApiKeyRow, AuditRow, Base, ChangeRow, IdempotencyRow
from campaigns.log.changes import NewChange

_CHANGE_COLUMNS = ("rev", "kind", "object_id", "nonce", "payload", "at")
_AUDIT_COLUMNS = ("at", "actor", "action", "kind", "object_id", "before", "after", "rev")


def _inserting(row: type[Base], columns: Sequence[str], **renamed: str) -> Insert:
    """An insert whose parameters are named `new_…`."""
    values: dict[str, Any] = {name: bindparam(f"new_{renamed.get(name, name)}") for name in columns}
    return insert(Base.metadata.tables[row.__tablename__]).values(values)


_NEW_CHANGE = _inserting(ChangeRow, _CHANGE_COLUMNS, at="moment")
_NEW_AUDIT = _inserting(AuditRow, _AUDIT_COLUMNS)
_ADD_CHANGE = Prepared(_NEW_CHANGE)
_ADD_AUDIT = Prepared(_NEW_AUDIT)
_ADD_BOTH = Prepared(_NEW_AUDIT.add_cte(_NEW_CHANGE.cte("change")))
"""Both in one round trip. SQLite has no such statement, and no round trips to save."""


class RowUpdate:
    """An update whose parameters are named `new_…`, sent in one statement with its change and its
    audit entry: each round trip under the lock on the head makes all other writers wait."""

    def __init__(self, statement: Update) -> None:
        self.alone = Prepared(statement)
        self.with_both = Prepared(
            _NEW_AUDIT.add_cte(_NEW_CHANGE.cte("change"), statement.cte("row"))
        )


class Logged(Protocol):
    """A record whose writes are logged."""

    def change(self) -> NewChange: ...

    def to_dict(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class LogEntry:
    """A change and its audit entry, which share their object and their rev."""

    change: NewChange
    action: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None

    @classmethod
    def of(cls, action: str, before: Logged | None, after: Logged) -> "LogEntry":
        """A record that was created or changed."""
        return cls(after.change(), action, before.to_dict() if before else None, after.to_dict())

    @classmethod
    def removed(cls, before: Logged) -> "LogEntry":
        """A record that was deleted."""
        last = before.change()
        return cls(NewChange(last.kind, last.object_id), "delete", before.to_dict(), None)


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
    """Write an entry, and the update of its row if there is one."""
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
    """Write an audit entry for an action that changed no object."""
    row = (at, actor, action, kind, "", None, None, rev)
    await insert_rows(connection, AuditRow, _AUDIT_COLUMNS, [row])


async def oldest_changes(connection: AsyncConnection, limit: int) -> list[tuple[int, float]]:
    """The rev and the time of the oldest changes."""
    rows = await connection.execute(
        select(ChangeRow.rev, ChangeRow.at).order_by(ChangeRow.rev).limit(limit)
    )
    return [(row.rev, row.at) for row in rows]


async def remove_changes(connection: AsyncConnection, up_to: int) -> int:
    """Remove the changes up to a rev; returns how many."""
    removed = await connection.execute(delete(ChangeRow).where(ChangeRow.rev <= up_to))
    return int(removed.rowcount)


async def audit_page(
    connection: AsyncConnection, filters: dict[str, str], before_id: int | None, limit: int
) -> Sequence[RowMapping]:
    """Audit entries, newest first, below an id if one is given; ids grow in commit order."""
    columns = [getattr(AuditRow, name) for name in ("id", *_AUDIT_COLUMNS)]
    query = (
        select(*columns, ApiKeyRow.name.label("actor_name"))
        .join(ApiKeyRow, AuditRow.actor == literal("key:") + ApiKeyRow.prefix, isouter=True)
        .order_by(AuditRow.id.desc())
        .limit(limit)
    )
    for name, value in filters.items():
        query = query.where(getattr(AuditRow, name) == value)
    if before_id is not None:
        query = query.where(AuditRow.id < before_id)
    return (await connection.execute(query)).mappings().all()


@dataclass(frozen=True, slots=True)
class RequestKey:
    """A request with an idempotency key of an API key, sent at a time."""

    key_id: int
    key: str
    request_hash: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a request."""

    status: int
    body: str
    headers: dict[str, str]


async def answer_of(connection: AsyncConnection, request: RequestKey) -> tuple[str, Answer] | None:
    """The hash of the request that was done with this key, and its answer."""
    query = select(IdempotencyRow).where(
        IdempotencyRow.key_id == request.key_id,
        IdempotencyRow.key == request.key,
        IdempotencyRow.status.is_not(None),
    )
    row = (await connection.execute(query)).first()
    if row is None:
        return None
    return row.request_hash, Answer(row.status, row.body, row.headers)


async def add_answer(connection: AsyncConnection, request: RequestKey, answer: Answer) -> bool:
    """Store the answer; False if the key has one already."""
    on_postgres = connection.dialect.name == "postgresql"
    values = {
        "request_hash": request.request_hash,
        "status": answer.status,
        "body": answer.body,
        "headers": answer.headers,
        # Earlier versions store a row before the answer. They may still run during an upgrade.
        "token": "",
        "locked_until": request.at,
        "created_at": request.at,
    }
    added = await connection.execute(
        (postgresql.insert if on_postgres else sqlite.insert)(IdempotencyRow)
        .values(key_id=request.key_id, key=request.key, **values)
        .on_conflict_do_update(
            index_elements=["key_id", "key"], set_=values, where=IdempotencyRow.status.is_(None)
        )
        .returning(IdempotencyRow.key)
    )
    return added.first() is not None


async def forget_answers(connection: AsyncConnection, before: datetime) -> int:
    """Remove the rows created before a time; returns how many."""
    removed = await connection.execute(
        delete(IdempotencyRow).where(IdempotencyRow.created_at < before)
    )
    return int(removed.rowcount)
