"""Writes as the store makes them: the row, the rev at the end of the transaction, the change.

It is SQL of the tests' own, so that the feed is tested against the protocol and not against one
writer of it.
"""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateTable

from campaigns.database.tables import Base
from campaigns.log.changes import CHANNEL
from index import digest_of

SECRET = "of the tests"
TREE = '[1,["=","age",%d]]'
DIGEST = "SELECT id, version FROM campaigns WHERE status = 'active'"


def ddl(dialect: str) -> list[str]:
    """The statements that make the tables, and the first head."""
    of = postgresql.dialect() if dialect == "postgresql" else sqlite.dialect()  # type: ignore[no-untyped-call]
    tables = [str(CreateTable(t).compile(dialect=of)) for t in Base.metadata.sorted_tables]
    return [*tables, head(secrets.token_hex(8))]


def head(epoch: str) -> str:
    columns = "(id, epoch, rev, catalogue_rev, pruned_rev, stream_secret)"
    return f"INSERT INTO feed_head {columns} VALUES (1, '{epoch}', 0, 0, 0, '{SECRET}')"


def log_cut_connections() -> None:
    """What a cut connection raises in a callback is logged, as in a worker, and fails no test."""
    asyncio.get_running_loop().set_exception_handler(None)


def active(id: int, version: int, age: int = 0, **more: Any) -> dict[str, Any]:
    """The payload of an active campaign."""
    return {
        "id": id,
        "version": version,
        "status": "active",
        "advertiser_id": 1,
        "priority": 5,
        "bid_micros": 1000,
        "starts_at": None,
        "ends_at": None,
        "categories": [],
        "tree": json.loads(TREE % age),
    } | more


class Writer:
    """One connection that writes to Postgres."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    @classmethod
    @asynccontextmanager
    async def open(cls, url: str) -> AsyncIterator["Writer"]:
        log_cut_connections()
        connection = await asyncpg.connect(url, timeout=10)
        try:
            yield cls(connection)
        finally:
            connection.terminate()

    async def prepare(self) -> None:
        """An attribute and an advertiser to start with."""
        await self.attribute("age", "int")
        await self.advertiser(1)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        async with self.connection.transaction():
            yield

    async def log(self, kind: str, object_id: str, payload: object, nonce: str = "") -> int:
        """The end of a transaction: the rev, and the change that carries it."""
        rev: int = await self.connection.fetchval(
            "UPDATE feed_head SET rev = rev + 1 RETURNING rev"
        )
        await self.connection.execute(
            "INSERT INTO changes (rev, kind, object_id, nonce, payload, at) "
            "VALUES ($1, $2, $3, $4, $5, extract(epoch FROM clock_timestamp()))",
            *(rev, kind, object_id, nonce or secrets.token_hex(8)),
            payload if isinstance(payload, str) else json.dumps(payload),
        )
        await self.connection.execute("SELECT pg_notify($1, $2)", CHANNEL, str(rev))
        return rev

    async def put_row(self, id: int, status: str = "active", **more: Any) -> int:
        """The row of a campaign, without its change; its new version."""
        fields = active(id, 0, **more)
        version: int = await self.connection.fetchval(
            "INSERT INTO campaigns (id, advertiser_id, name, status, priority, bid_micros, "
            "categories, targeting, tree, attribute_names, fingerprint, version, rev, created_at, "
            "updated_at) VALUES ($1, 1, '', $2, 5, 1000, $3, '', $4, '[]', '', 1, 0, now(), now()) "
            "ON CONFLICT (id) DO UPDATE SET status = excluded.status, tree = excluded.tree, "
            "categories = excluded.categories, version = campaigns.version + 1 RETURNING version",
            *(id, status, json.dumps(fields["categories"]), json.dumps(fields["tree"])),
        )
        return version

    async def put(self, id: int, status: str = "active", **more: Any) -> int:
        """Create or change a campaign; its rev."""
        async with self.transaction():
            version = await self.put_row(id, status, **more)
            payload = active(id, version, **more)
            if status != "active":
                payload = {k: payload[k] for k in ("id", "version", "advertiser_id")}
                payload["status"] = status
            return await self.log("campaign", str(id), payload)

    async def puts(self, ids: Sequence[int], age: int = 0) -> int:
        rev = 0
        for id in ids:
            rev = await self.put(id, age=age)
        return rev

    async def delete(self, id: int) -> int:
        async with self.transaction():
            await self.connection.execute("DELETE FROM campaigns WHERE id = $1", id)
            return await self.log("campaign", str(id), None)

    async def advertiser(self, id: int, status: str = "active", domain: str | None = None) -> int:
        async with self.transaction():
            await self.connection.execute(
                "INSERT INTO advertisers (id, name, domain, status, version, rev, "
                "created_at, updated_at) VALUES ($1, '', $3, $2, 1, 0, now(), now()) "
                "ON CONFLICT (id) DO UPDATE SET status = excluded.status",
                *(id, status, domain),
            )
            payload = {"id": id, "version": 1, "status": status, "domain": domain}
            return await self.log("advertiser", str(id), payload)

    async def attribute(self, name: str, type: str) -> int:
        async with self.transaction():
            await self.connection.execute(
                "INSERT INTO attributes (name, type, description, version, rev, created_at, "
                "updated_at) VALUES ($1, $2, '', 1, 0, now(), now()) "
                "ON CONFLICT (name) DO UPDATE SET type = excluded.type",
                *(name, type),
            )
            return await self.log("attribute", name, {"name": name, "type": type})

    async def key(self, id: int, revoked: bool = False) -> int:
        async with self.transaction():
            await self.connection.execute(
                "INSERT INTO api_keys "
                "(id, name, prefix, secret_hash, scopes, created_at, version, rev) VALUES "
                "($1, '', $2, 'hash', '[\"match\"]', now(), 1, 0) ON CONFLICT (id) "
                "DO UPDATE SET revoked_at = CASE WHEN $3 THEN now() END",
                *(id, f"prefix{id}", revoked),
            )
            payload = {"id": id, "prefix": f"prefix{id}", "secret_hash": "hash"}
            payload |= {"scopes": ["match"], "expires_at": None, "revoked": revoked}
            return await self.log("key", str(id), payload)

    async def prune(self, upto: int) -> None:
        async with self.transaction():
            await self.connection.execute("UPDATE feed_head SET pruned_rev = $1", upto)
            await self.connection.execute("DELETE FROM changes WHERE rev <= $1", upto)

    async def new_epoch(self) -> None:
        await self.connection.execute("UPDATE feed_head SET epoch = $1", secrets.token_hex(8))

    async def truth(self) -> tuple[str, int, int]:
        """The epoch, the rev and the digest of the database, of one moment."""
        async with self.connection.transaction(isolation="repeatable_read"):
            epoch, rev = await self.connection.fetchrow("SELECT epoch, rev FROM feed_head")
            rows = await self.connection.fetch(DIGEST)
        return epoch, rev, digest_of((id, version) for id, version in rows)
