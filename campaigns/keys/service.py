"""API keys: make, list, revoke. Any number may live at once, so a new one can replace an old."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from campaigns.database.retry import retried
from campaigns.errors import InvalidFields, NotFound
from campaigns.keys import repository as rows
from campaigns.keys.model import ApiKey, NewKey, check_new, hash_of, make, token_of
from campaigns.log.changes import KEY
from campaigns.log.repository import LogEntry
from campaigns.log.write_transaction import writing
from campaigns.store import Store


@retried
async def create(store: Store, actor: str, fields: Mapping[str, Any]) -> NewKey:
    """Make a key. Its token is in the answer and nowhere else."""
    values, problems = check_new(fields, store.now())
    if problems:
        raise InvalidFields(*problems)
    prefix, secret = make()
    async with writing(store, actor) as transaction:
        rev = await transaction.take(1)
        key = await rows.add(
            transaction.connection,
            {
                "name": values["name"],
                "prefix": prefix,
                "secret_hash": hash_of(secret),
                "scopes": list(values["scopes"]),
                "created_at": transaction.at,
                "expires_at": values["expires_at"],
                "rate": values["rate"],
                "max_body": values["max_body"],
                "version": 1,
                "rev": rev,
            },
        )
        await transaction.append([LogEntry(key.change(), "create", None, key.to_dict())])
    return NewKey(key, token_of(prefix, secret))


async def every(store: Store) -> list[ApiKey]:
    """All keys, revoked ones too, in the order in which they were made."""
    async with store.database.read() as connection:
        return await rows.every(connection)


@retried
async def revoke(store: Store, actor: str, id: int) -> ApiKey:
    """Revoke a key for ever; once is enough, a second time changes nothing."""
    async with writing(store, actor) as transaction:
        before = await rows.lock(transaction.connection, id)
        if before is None:
            raise NotFound(KEY, id)
        if before.revoked_at is not None:
            return before
        rev = await transaction.take(1)
        version = before.version + 1
        after = replace(before, revoked_at=transaction.at, version=version, rev=rev)
        await rows.change(transaction.connection, after)
        entry = LogEntry(after.change(), "revoke", before.to_dict(), after.to_dict())
        await transaction.append([entry])
    return after
