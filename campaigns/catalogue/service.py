"""Attributes: read the catalogue, add to it, change it, remove from it.

Whoever changes the catalogue takes the head first: from then on no campaign can slip in that was
checked against the old one. Looking through all campaigns would hold the head for long, so that is
done before; under the head only those are looked at that were written since.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from campaigns.campaign import repository as campaign
from campaigns.catalogue import repository as rows
from campaigns.catalogue.model import (
    BUILT_IN,
    BUILT_IN_NAMES,
    AttributeRecord,
    check_changes,
    check_new,
)
from campaigns.database.retry import retried
from campaigns.errors import (
    AttributeInUse,
    BuiltIn,
    InvalidFields,
    NotFound,
    Taken,
    VersionConflict,
)
from campaigns.log import head
from campaigns.log.changes import ATTRIBUTE, NewChange
from campaigns.log.idempotency import Answering
from campaigns.log.repository import LogEntry
from campaigns.log.write_transaction import Writing, writing
from campaigns.store import Store

SHOWN = 100
"""So many campaigns are named when an attribute is in use."""


async def every(store: Store) -> list[AttributeRecord]:
    """The catalogue, built-ins included, by name."""
    async with store.database.read() as connection:
        stored = await rows.every(connection)
    return sorted([*stored, *BUILT_IN], key=lambda record: record.name)


async def get(store: Store, name: str) -> AttributeRecord:
    """An attribute."""
    for record in BUILT_IN:
        if record.name == name:
            return record
    async with store.database.read() as connection:
        return _found(await rows.get(connection, name), name)


@retried
async def create(
    store: Store,
    actor: str,
    fields: Mapping[str, Any],
    answering: Answering[AttributeRecord] | None = None,
) -> AttributeRecord:
    """Add an attribute."""
    values, problems = check_new(fields)
    if problems:
        raise InvalidFields(*problems)
    name = values["name"]
    _check_not_built_in(name)
    async with writing(store, actor) as transaction:
        connection, at = transaction.connection, transaction.at
        rev = await transaction.take(1, changes_catalogue=True)
        if await rows.get(connection, name) is not None:
            raise Taken(ATTRIBUTE, "name", name)
        new = AttributeRecord(**values, version=1, rev=rev, created_at=at, updated_at=at)
        await rows.add(connection, new)
        await transaction.append([LogEntry(new.change(), "create", None, new.to_dict())])
        if answering is not None:
            await answering.store(connection, new)
    return new


@retried
async def patch(
    store: Store, actor: str, name: str, fields: Mapping[str, Any], version: int | None = None
) -> AttributeRecord:
    """Change the description, or the type while no campaign speaks of the attribute."""
    values, problems = check_changes(fields)
    if problems:
        raise InvalidFields(*problems)
    _check_not_built_in(name)
    current = await get(store, name)
    _check_version(current, version)
    if replace(current, **values) == current:
        return current
    retyped = "type" in values and values["type"] != current.type
    seen = await _check_unused(store, name) if retyped else 0
    async with writing(store, actor) as transaction:
        rev = await transaction.take(1, changes_catalogue="type" in values)
        before = await _current(transaction, name, version)
        after = replace(before, **values)
        if after.type != before.type:
            await _check_unused_since(transaction, name, seen)
        after = replace(after, version=before.version + 1, rev=rev, updated_at=transaction.at)
        await rows.change(transaction.connection, after)
        entry = LogEntry(after.change(), "patch", before.to_dict(), after.to_dict())
        await transaction.append([entry])
    return after


@retried
async def delete(store: Store, actor: str, name: str, version: int | None = None) -> int:
    """Remove an attribute that no campaign speaks of; the rev of that."""
    _check_not_built_in(name)
    _check_version(await get(store, name), version)
    seen = await _check_unused(store, name)
    async with writing(store, actor) as transaction:
        rev = await transaction.take(1, changes_catalogue=True)
        before = await _current(transaction, name, version)
        await _check_unused_since(transaction, name, seen)
        await rows.remove(transaction.connection, name)
        removed = LogEntry(NewChange(ATTRIBUTE, name), "delete", before.to_dict(), None)
        await transaction.append([removed])
        return rev


async def _check_unused(store: Store, name: str) -> int:
    """No campaign speaks of it, up to the rev that is answered."""
    async with store.database.read() as connection:
        seen = (await head.read(connection)).rev
        first, total = await campaign.using_attribute(connection, name, None, SHOWN)
    if total:
        raise AttributeInUse(name, first, total)
    return seen


async def _check_unused_since(transaction: Writing, name: str, seen: int) -> None:
    first, total = await campaign.using_attribute(transaction.connection, name, seen, SHOWN)
    if total:
        raise AttributeInUse(name, first, total)


async def _current(transaction: Writing, name: str, version: int | None) -> AttributeRecord:
    attribute = _found(await rows.get(transaction.connection, name), name)
    _check_version(attribute, version)
    return attribute


def _check_version(attribute: AttributeRecord, version: int | None) -> None:
    if version is not None and attribute.version != version:
        raise VersionConflict(ATTRIBUTE, attribute.name, version, attribute.version)


def _found(attribute: AttributeRecord | None, name: str) -> AttributeRecord:
    if attribute is None:
        raise NotFound(ATTRIBUTE, name)
    return attribute


def _check_not_built_in(name: str) -> None:
    if name in BUILT_IN_NAMES:
        raise BuiltIn(name)
