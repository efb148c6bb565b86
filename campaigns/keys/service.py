"""API keys: create, list, revoke. Several can be valid at once, so that a new key can replace an
old one without a gap."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from campaigns.database.retry import retried
from campaigns.errors import InvalidFields
from campaigns.keys import repository as rows
from campaigns.keys.model import ApiKey, NewKey, check_new_key, hash_of, make, token_of
from campaigns.log.changes import KEY
from campaigns.log.repository import LogEntry
from campaigns.log.write_transaction import writing
from campaigns.record import found
from campaigns.store import Store


@retried
async def create(store: Store, actor: str, fields: Mapping[str, Any]) -> NewKey:
    """Create a key. Only this return value has its token."""
    values, problems = check_new_key(fields, store.now())
    if problems:
        raise InvalidFields(*problems)
    prefix, secret = make()
    async with writing(store, actor) as transaction:
        rev = await transaction.take(1)
        key = await rows.add(
            transaction.connection,
            {
                **values,
                "scopes": list(values["scopes"]),
                "prefix": prefix,
                "secret_hash": hash_of(secret),
                "created_at": transaction.at,
                "version": 1,
                "rev": rev,
            },
        )
        await transaction.append([LogEntry.of("create", None, key)])
    return NewKey(key, token_of(prefix, secret))


async def every(store: Store) -> list[ApiKey]:
    """All keys, revoked ones too, in the order of creation."""
    async with store.database.read() as connection:
        return await rows.every(connection)


async def get(store: Store, id: int) -> ApiKey:
    """A key."""
    async with store.database.read() as connection:
        return found(await rows.get(connection, id), KEY, id)


@retried
async def revoke(store: Store, actor: str, id: int) -> ApiKey:
    """Revoke a key for good; a key that is revoked already stays as it is."""
    async with writing(store, actor) as transaction:
        before = found(await rows.lock(transaction.connection, id), KEY, id)
        if before.revoked_at is not None:
            return before
        rev = await transaction.take(1)
        version = before.version + 1
        after = replace(before, revoked_at=transaction.at, version=version, rev=rev)
        await rows.change(transaction.connection, after)
        await transaction.append([LogEntry.of("revoke", before, after)])
    return after
