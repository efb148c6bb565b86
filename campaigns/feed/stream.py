"""The fast lane: one stream of Redis for each epoch, with the rev as the id of an entry.

    copse:{epoch}    <rev>-0    kind, object_id, nonce, payload, at, previous, proof

`previous` is the nonce of the change before, so that a reader sees whether an entry continues what
it holds. `proof` is an HMAC of all the others, the id and the epoch, with a secret that only the
database has: who can write to Redis cannot forge a change (`docs/decisions/0014-…`). There is no
consumer group: it would divide the entries between the replicas.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hmac import compare_digest, digest
from typing import Any

import redis.asyncio as redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ResponseError

from campaigns.feed.messages import Link
from campaigns.feed.postgres import PostgresSource
from campaigns.log.changes import Change

BLOCK_SECONDS = 1.0
COUNT = 500
CONNECT_SECONDS = 2.0

Fields = dict[bytes, bytes]

_FIELDS = (b"kind", b"object_id", b"nonce", b"payload", b"at", b"previous")
_PROOF = b"proof"
_ALL = {*_FIELDS, _PROOF}


class ForeignEntry(ValueError):
    """Something in the stream that no relay wrote."""

    def __init__(self, epoch: str, what: str) -> None:
        super().__init__(f"{what} in the stream {key(epoch)} is not from a relay")


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


@dataclass(frozen=True, slots=True)
class Codec:
    """Writes and reads the entries of one epoch, with the secret of its proofs."""

    epoch: str
    secret: bytes

    @classmethod
    async def of(cls, source: PostgresSource, epoch: str) -> "Codec":
        """With the secret that the database has."""
        return cls(epoch, await source.stream_secret(epoch))

    def encode(self, link: Link) -> tuple[bytes, Fields]:
        """The id and the fields of an entry."""
        change = link.change
        id = b"%d-0" % change.rev
        values = (
            change.kind.encode(),
            change.object_id.encode(),
            change.nonce.encode(),
            change.payload,
            repr(change.at).encode(),
            link.previous.encode(),
        )
        fields = dict(zip(_FIELDS, values, strict=True))
        return id, fields | {_PROOF: self._proof(id, fields)}

    def decode(self, id: bytes, fields: Fields) -> Link:
        """The change in an entry; `ForeignEntry` if the proof is wrong."""
        if fields.keys() != _ALL or not compare_digest(fields[_PROOF], self._proof(id, fields)):
            raise ForeignEntry(self.epoch, f"entry {id.decode()}")
        kind, object_id, nonce, payload, at, previous = (fields[name] for name in _FIELDS)
        change = Change(
            int(id.partition(b"-")[0]),
            kind.decode(),
            object_id.decode(),
            nonce.decode(),
            payload,
            float(at),
        )
        return Link(previous.decode(), change)

    def _proof(self, id: bytes, fields: Fields) -> bytes:
        # No field of a relay has a NUL, so no other fields give the same message.
        parts = (self.epoch.encode(), id, *(fields[name] for name in _FIELDS))
        return digest(self.secret, b"\0".join(parts), "sha256").hex().encode()


async def read(client: Any, codec: Codec, after: bytes, seconds: float = 0) -> tuple[Link, ...]:
    """The next entries after an id; without any, wait for some seconds. `ForeignEntry`."""
    block = int(seconds * 1000) or None
    with _own_type(codec.epoch):
        answer = await client.xread({key(codec.epoch): after}, count=COUNT, block=block)
    return tuple(codec.decode(id, fields) for _, entries in answer for id, fields in entries)


async def last(client: Any, codec: Codec) -> Link | None:
    """The last entry; None if there is no stream. `ForeignEntry` also if the next entry cannot be
    added, since an id that no relay chose was the last one."""
    name = key(codec.epoch)
    if not await client.exists(name):
        return None
    with _own_type(codec.epoch):
        found = await client.xinfo_stream(name)
    entry = found["last-entry"]
    if entry is None or entry[0] != found["last-generated-id"]:
        raise ForeignEntry(codec.epoch, f"the last id {found['last-generated-id'].decode()}")
    return codec.decode(*entry)


@contextmanager
def _own_type(epoch: str) -> Iterator[None]:
    try:
        yield
    except ResponseError as error:
        if "WRONGTYPE" in str(error):
            raise ForeignEntry(epoch, "the value") from None
        raise


class Stream:
    """A reader: each read says after which rev."""

    def __init__(self, url: str, source: PostgresSource) -> None:
        self._client = client(url)
        self._source = source
        self._codec: Codec | None = None

    async def read(self, epoch: str, after: int) -> tuple[Link, ...]:
        """The next entries after a rev, as soon as there are some; empty after a second without.
        `ForeignEntry`."""
        if self._codec is None or self._codec.epoch != epoch:
            self._codec = await Codec.of(self._source, epoch)
        try:
            return await read(self._client, self._codec, b"%d-0" % after, BLOCK_SECONDS)
        except ForeignEntry:
            self._codec = None  # the secret may be another one after a restore
            raise

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()
