"""Attributes: list, read, create, change, delete.

A writer of the catalogue locks the head first: from then on no campaign can be written that was
checked against the old catalogue. To search all campaigns for an attribute takes long, so that is
done before the lock; under it, only the campaigns written since are searched.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from campaigns.campaign import repository as campaign
from campaigns.catalogue import repository as rows
from campaigns.catalogue.model import (
    BUILT_IN,
    BUILT_IN_NAMES,
    MAX_ATTRIBUTES,
    AttributeRecord,
    Catalogue,
    check_values,
)
from campaigns.database.retry import retried
from campaigns.errors import AttributeInUse, BuiltIn, CatalogueFull, InvalidFields, Taken
from campaigns.log import head
from campaigns.log.changes import ATTRIBUTE
from campaigns.log.idempotency import Answering
from campaigns.log.repository import LogEntry
from campaigns.log.write_transaction import Writing, writing
from campaigns.record import check_changes, check_new, check_version, found
from campaigns.store import Store
from index import Attribute, Limits, Schema
from index.language import TreeError, from_json

SHOWN = 100
"""How many campaigns the error names when an attribute is in use."""


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
        return found(await rows.get(connection, name), ATTRIBUTE, name)


@retried
async def create(
    store: Store,
    actor: str,
    fields: Mapping[str, Any],
    answering: Answering[AttributeRecord] | None = None,
) -> AttributeRecord:
    """Add an attribute."""
    values, problems = check_new(AttributeRecord, fields)
    problems = problems or check_values(values["type"], values["values"])
    if problems:
        raise InvalidFields(*problems)
    name = values["name"]
    _check_not_built_in(name)
    async with writing(store, actor) as transaction:
        connection, at = transaction.connection, transaction.at
        rev = await transaction.take(1, changes_catalogue=True)
        if await rows.get(connection, name) is not None:
            raise Taken(ATTRIBUTE, "name", name)
        if await rows.count(connection) >= MAX_ATTRIBUTES:
            raise CatalogueFull(MAX_ATTRIBUTES)
        new = AttributeRecord(**values, version=1, rev=rev, created_at=at, updated_at=at)
        await rows.add(connection, new)
        await transaction.append([LogEntry.of("create", None, new)])
        if answering is not None:
            await answering.store(connection, new)
    return new


@retried
async def patch(
    store: Store, actor: str, name: str, fields: Mapping[str, Any], version: int | None = None
) -> AttributeRecord:
    """Change the description, the values, or the type, if all campaigns that use the attribute are
    valid with the new one."""
    values, problems = check_changes(AttributeRecord, fields)
    if problems:
        raise InvalidFields(*problems)
    _check_not_built_in(name)
    current = await get(store, name)
    check_version(ATTRIBUTE, name, current.version, version)
    changed = replace(current, **values)
    if changed == current:
        return current
    if problems := check_values(changed.type, changed.values):
        raise InvalidFields(*problems)
    retyped = "type" in values and values["type"] != current.type
    checks = _Checks.of(await store.catalogue(), changed, store.limits)
    seen = await _check_type(store, checks) if retyped else 0
    async with writing(store, actor) as transaction:
        rev = await transaction.take(1, changes_catalogue=bool({"type", "values"} & set(values)))
        before = await _current(transaction, name, version)
        after = replace(before, **values)
        if after.type != before.type:
            await checks.run(transaction.connection, seen)
        after = replace(after, version=before.version + 1, rev=rev, updated_at=transaction.at)
        await rows.change(transaction.connection, after)
        await transaction.append([LogEntry.of("patch", before, after)])
    return after


@retried
async def delete(store: Store, actor: str, name: str, version: int | None = None) -> int:
    """Remove an attribute that no campaign uses; returns the rev."""
    _check_not_built_in(name)
    check_version(ATTRIBUTE, name, (await get(store, name)).version, version)
    seen = await _check_unused(store, name)
    async with writing(store, actor) as transaction:
        rev = await transaction.take(1, changes_catalogue=True)
        before = await _current(transaction, name, version)
        await _check_unused_since(transaction, name, seen)
        await rows.remove(transaction.connection, name)
        await transaction.append([LogEntry.removed(before)])
        return rev


async def _check_unused(store: Store, name: str) -> int:
    """Check that no campaign uses the attribute; returns the rev up to which that is true."""
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


@dataclass(frozen=True, slots=True)
class _Checks:
    """Whether campaigns are valid with a new type of an attribute."""

    attribute: AttributeRecord
    schema: Schema
    limits: Limits

    @classmethod
    def of(cls, catalogue: Catalogue, changed: AttributeRecord, limits: Limits) -> "_Checks":
        others = [each for each in catalogue.schema if each.name != changed.name]
        schema = Schema([*others, Attribute(changed.name, changed.type)])
        return cls(changed, schema, limits)

    async def run(self, connection: AsyncConnection, since: int | None) -> None:
        """Check the campaigns that use the attribute; only those written after a rev, if any."""
        name, wrong = self.attribute.name, list[int]()
        async for part in campaign.trees_using_attribute(connection, name, since):
            wrong += await asyncio.to_thread(self.invalid, part)
        if wrong:
            raise AttributeInUse(name, wrong[:SHOWN], len(wrong), self.attribute.type)

    def invalid(self, stored: Sequence[tuple[int, str]]) -> list[int]:
        """The ids of the trees that are not valid."""
        found = []
        for id, tree in stored:
            try:
                from_json(tree, self.schema, self.limits)
            except TreeError:
                found.append(id)
        return found


async def _check_type(store: Store, checks: _Checks) -> int:
    """Check all campaigns with the new type; returns the rev up to which they are valid."""
    async with store.database.read() as connection:
        seen = (await head.read(connection)).rev
        await checks.run(connection, None)
    return seen


async def _current(transaction: Writing, name: str, version: int | None) -> AttributeRecord:
    attribute = found(await rows.get(transaction.connection, name), ATTRIBUTE, name)
    check_version(ATTRIBUTE, name, attribute.version, version)
    return attribute


def _check_not_built_in(name: str) -> None:
    if name in BUILT_IN_NAMES:
        raise BuiltIn(name)
