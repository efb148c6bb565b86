"""Operators: list, read, create, change, delete.

As with attributes (`catalogue/service.py`), a writer locks the head first, so that no campaign is
written that was checked against other operators; all campaigns are searched before the lock.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from campaigns.campaign import repository as campaign
from campaigns.campaign.targeting import call_name
from campaigns.database.retry import retried
from campaigns.errors import InvalidFields, OperatorInUse, Taken, TooManyOperators
from campaigns.log import head
from campaigns.log.changes import OPERATOR
from campaigns.log.idempotency import Answering
from campaigns.log.repository import LogEntry
from campaigns.log.write_transaction import Writing, writing
from campaigns.operators import repository as rows
from campaigns.operators.model import MAX_OPERATORS, OperatorRecord, check_target
from campaigns.record import check_changes, check_new, check_version, found
from campaigns.store import Store

SHOWN = 100
"""How many campaigns the error names when an operator is in use."""


async def every(store: Store) -> list[OperatorRecord]:
    """All operators, by name."""
    async with store.database.read() as connection:
        return await rows.every(connection)


async def get(store: Store, name: str) -> OperatorRecord:
    """An operator."""
    async with store.database.read() as connection:
        return found(await rows.get(connection, name), OPERATOR, name)


@retried
async def create(
    store: Store,
    actor: str,
    fields: Mapping[str, Any],
    answering: Answering[OperatorRecord] | None = None,
) -> OperatorRecord:
    """Add an operator."""
    values, problems = check_new(OperatorRecord, fields)
    problems = problems or check_target(OperatorRecord(**values))
    if problems:
        raise InvalidFields(*problems)
    async with writing(store, actor) as transaction:
        connection, at = transaction.connection, transaction.at
        rev = await transaction.take(1, changes_catalogue=True)
        if await rows.get(connection, values["name"]) is not None:
            raise Taken(OPERATOR, "name", values["name"])
        if await rows.count(connection) >= MAX_OPERATORS:
            raise TooManyOperators(MAX_OPERATORS)
        new = OperatorRecord(**values, version=1, rev=rev, created_at=at, updated_at=at)
        await rows.add(connection, new)
        await transaction.append([LogEntry.of("create", None, new)])
        if answering is not None:
            await answering.store(connection, new)
    return new


@retried
async def patch(
    store: Store, actor: str, name: str, fields: Mapping[str, Any], version: int | None = None
) -> OperatorRecord:
    """Change an operator; its signature only while no campaign calls it."""
    values, problems = check_changes(OperatorRecord, fields)
    if problems:
        raise InvalidFields(*problems)
    current = await get(store, name)
    check_version(OPERATOR, name, current.version, version)
    changed = replace(current, **values)
    if changed == current:
        return current
    if problems := check_target(changed):
        raise InvalidFields(*problems)
    seen = await _check_unused(store, name) if changed.signature != current.signature else 0
    async with writing(store, actor) as transaction:
        rev = await transaction.take(1, changes_catalogue=True)
        before = await _current(transaction, name, version)
        after = replace(before, **values)
        if after.signature != before.signature:
            await _check_unused_since(transaction, name, seen)
        after = replace(after, version=before.version + 1, rev=rev, updated_at=transaction.at)
        await rows.change(transaction.connection, after)
        await transaction.append([LogEntry.of("patch", before, after)])
    return after


@retried
async def delete(store: Store, actor: str, name: str, version: int | None = None) -> int:
    """Remove an operator that no campaign calls; returns the rev."""
    check_version(OPERATOR, name, (await get(store, name)).version, version)
    seen = await _check_unused(store, name)
    async with writing(store, actor) as transaction:
        rev = await transaction.take(1, changes_catalogue=True)
        before = await _current(transaction, name, version)
        await _check_unused_since(transaction, name, seen)
        await rows.remove(transaction.connection, name)
        await transaction.append([LogEntry.removed(before)])
        return rev


async def _check_unused(store: Store, name: str) -> int:
    """Check that no campaign calls the operator; returns the rev up to which that is true."""
    async with store.database.read() as connection:
        seen = (await head.read(connection)).rev
        first, total = await campaign.using_attribute(connection, call_name(name), None, SHOWN)
    if total:
        raise OperatorInUse(name, first, total)
    return seen


async def _check_unused_since(transaction: Writing, name: str, seen: int) -> None:
    names = call_name(name)
    first, total = await campaign.using_attribute(transaction.connection, names, seen, SHOWN)
    if total:
        raise OperatorInUse(name, first, total)


async def _current(transaction: Writing, name: str, version: int | None) -> OperatorRecord:
    operator = found(await rows.get(transaction.connection, name), OPERATOR, name)
    check_version(OPERATOR, name, operator.version, version)
    return operator
