"""The fast lane: one stream of Redis for each epoch, with the rev as the id of an entry.

    copse:{epoch}    <rev>-0    kind, object_id, nonce, payload, at, previous

`previous` is the nonce of the change before, so that a reader sees whether an entry continues what
it holds. There is no consumer group: it would divide the entries between the replicas.
"""

from typing import Any

import redis.asyncio as redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from campaigns.feed.messages import Link
from campaigns.log.changes import Change

BLOCK_SECONDS = 1.0
COUNT = 500
CONNECT_SECONDS = 2.0

Fields = dict[bytes, bytes]


class BadEntry(ValueError):
    """An entry that is not from a relay."""

    def __init__(self, id: bytes, fields: Fields) -> None:
        super().__init__(f"entry {id!r} has the fields {sorted(fields)}")
        self.id = id


def key(epoch: str) -> str:
    """The name of the stream of an epoch."""
    return f"copse:{epoch}"


def client(url: str) -> Any:
    """A client that fails at once: its users do their own retries."""
    return redis.Redis.from_url(
        url,
        socket_connect_timeout=CONNECT_SECONDS,
        socket_timeout=BLOCK_SECONDS + CONNECT_SECONDS,
        retry=Retry(NoBackoff(), 0),
        health_check_interval=0,
    )


def encode(link: Link) -> dict[str, str | bytes]:
    """The fields of an entry."""
    change = link.change
    return {
        "kind": change.kind,
        "object_id": change.object_id,
        "nonce": change.nonce,
        "payload": change.payload,
        "at": repr(change.at),
        "previous": link.previous,
    }


def decode(id: bytes, fields: Fields) -> Link:
    """The change in an entry; `BadEntry`."""
    try:
        change = Change(
            int(id.partition(b"-")[0]),
            fields[b"kind"].decode(),
            fields[b"object_id"].decode(),
            fields[b"nonce"].decode(),
            fields[b"payload"],
            float(fields[b"at"]),
        )
        return Link(fields[b"previous"].decode(), change)
    except (KeyError, ValueError):
        raise BadEntry(id, fields) from None


class Stream:
    """A stateless reader: each read says after which rev."""

    def __init__(self, url: str) -> None:
        self._client = client(url)

    async def read(self, epoch: str, after: int) -> tuple[Link, ...]:
        """The next entries after a rev, as soon as there are some; empty after a second without."""
        answer = await self._client.xread(
            {key(epoch): f"{after}-0"}, count=COUNT, block=int(BLOCK_SECONDS * 1000)
        )
        return tuple(decode(id, fields) for _, entries in answer for id, fields in entries)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()
