"""The average size of a campaign change, in the log and in the stream."""

import asyncio
from dataclasses import dataclass

import redis

from campaigns.feed.postgres import connect
from campaigns.feed.stream import key

_LOG = "SELECT avg(octet_length(payload)) FROM changes WHERE kind = 'campaign'"
_EPOCH = "SELECT epoch FROM feed_head"


@dataclass(frozen=True, slots=True)
class FeedBytes:
    """Bytes per change: the payload in the log, and the memory of an entry in Redis."""

    log: float
    stream: float | None


def feed_bytes(database: str, redis_url: str) -> FeedBytes | None:
    """The sizes; None if no campaign has changed."""
    log, epoch = asyncio.run(_read(database))
    if log is None:
        return None
    with redis.Redis.from_url(redis_url) as client:
        name = key(epoch)
        entries = int(client.xlen(name))
        memory = client.memory_usage(name, samples=0)
    return FeedBytes(log, memory / entries if entries and memory else None)


async def _read(database: str) -> tuple[float | None, str]:
    connection = await connect(database)
    try:
        average = await connection.fetchval(_LOG)
        return None if average is None else float(average), await connection.fetchval(_EPOCH)
    finally:
        await connection.close()
