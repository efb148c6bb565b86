"""Somebody else writes to Redis: nothing of it is applied, and the stream is soon in use again."""

import asyncio
import json
from typing import Any

import pytest

from campaigns.feed import stream
from campaigns.feed.messages import Link
from campaigns.feed.postgres import PostgresSource
from campaigns.feed.relay import Relay
from campaigns.feed.service import WorkerFeed
from campaigns.keys.model import SCOPES, hash_of
from campaigns.log.changes import Change
from testkit.servers import RedisServer
from tests.campaigns.feed.conftest import codec, eventually, follows_the_stream, in_step
from tests.campaigns.feed.writing import Writer, active

PREFIX = "0123456789ab"
KEY = {
    "id": 99,
    "prefix": PREFIX,
    "secret_hash": hash_of("secret"),
    "scopes": SCOPES,
    "expires_at": None,
    "revoked": False,
}
HUGE = "18446744073709551615-18446744073709551614"


@pytest.fixture
async def streaming(feed: WorkerFeed, writer: Writer) -> WorkerFeed:
    """A worker that gets its changes from the stream."""
    await in_step(feed.follower, writer)
    await follows_the_stream(feed, writer)
    await in_step(feed.follower, writer)
    return feed


async def continued(client: Any, writer: Writer, kind: str, payload: object) -> Link:
    """A change that continues the stream, as far as Redis shows it."""
    epoch, rev, _ = await writer.truth()

    async def published() -> bool:
        last = await client.xrevrange(stream.key(epoch), count=1)
        return bool(last) and last[0][0] == b"%d-0" % rev

    await eventually(published, 10, "the relay has caught up")
    ((_, last),) = await client.xrevrange(stream.key(epoch), count=1)
    change = Change(rev + 1, kind, "99", "ab" * 8, json.dumps(payload).encode(), 0.0)
    return Link(last[b"nonce"].decode(), change)


async def is_noticed_and_healed(feed: WorkerFeed, writer: Writer) -> None:
    """The feed says so, goes on from the log, and soon follows the stream again."""
    follower = feed.follower

    async def noticed() -> bool:
        return follower.counts["resync", "foreign"] > 0

    await eventually(noticed, 5, "the foreign entry is counted")
    assert await in_step(follower, writer) < 5
    assert await follows_the_stream(feed, writer) < 10

    async def said_to_be_well() -> bool:
        return not follower.failing

    await eventually(said_to_be_well, 5, "the stream is no longer failing")
    assert await in_step(follower, writer) < 5
    assert not [what for what, _ in follower.counts if what == "load"]


@pytest.mark.parametrize(
    ("kind", "payload", "secret"),
    [("key", KEY, b""), ("key", KEY, b"guessed"), ("campaign", active(99, 1), b"guessed")],
)
async def test_a_forged_change_is_never_applied(
    streaming: WorkerFeed, writer: Writer, client: Any, kind: str, payload: object, secret: bytes
) -> None:
    view = streaming.current
    assert view is not None
    before = view.place.rev, view.digest(), dict(view.keys)
    link = await continued(client, writer, kind, payload)
    epoch = view.place.epoch
    id, fields = stream.Codec(epoch, secret).encode(link)
    await client.xadd(stream.key(epoch), fields, id)

    async def failing() -> bool:
        assert (view.place.rev, view.digest(), view.keys) == before
        return "stream" in streaming.follower.failing

    await eventually(failing, 5, "it is said that the stream is failing")
    await is_noticed_and_healed(streaming, writer)
    assert PREFIX not in view.keys
    assert 99 not in view.index


async def test_a_change_is_proven_for_its_own_place_only(
    streaming: WorkerFeed, writer: Writer, client: Any
) -> None:
    """An entry of the relay, moved to the next rev or taken from another epoch."""
    epoch, rev, _ = await writer.truth()
    link = await continued(client, writer, "key", KEY)
    for other in (codec("another"), codec(epoch)):
        _, fields = other.encode(
            Link(link.previous, Change(rev, "key", "99", "ab" * 8, b"{}", 0.0))
        )
        with pytest.raises(stream.ForeignEntry):
            codec(epoch).decode(b"%d-0" % (rev + 1), fields)
    id, fields = codec(epoch).encode(link)
    assert codec(epoch).decode(id, fields) == link
    for name in fields:
        with pytest.raises(stream.ForeignEntry):
            codec(epoch).decode(id, fields | {name: fields[name] + b"0"})


@pytest.mark.parametrize("id", ["next", "*", HUGE])
async def test_a_foreign_entry_is_removed(
    streaming: WorkerFeed, writer: Writer, client: Any, id: str
) -> None:
    epoch, rev, _ = await writer.truth()
    await client.xadd(stream.key(epoch), {"what": "is this"}, id.replace("next", f"{rev}-1"))
    await is_noticed_and_healed(streaming, writer)


async def test_a_huge_id_that_is_gone_again_does_not_stop_the_relay(
    streaming: WorkerFeed, writer: Writer, client: Any
) -> None:
    """Redis remembers the last id of a stream, also of an entry that was deleted."""
    epoch, _, _ = await writer.truth()
    async with client.pipeline(transaction=True) as pipeline:
        pipeline.xadd(stream.key(epoch), {"what": "is this"}, HUGE)
        pipeline.xdel(stream.key(epoch), HUGE)
        await pipeline.execute()
    await writer.puts(range(3))
    assert await follows_the_stream(streaming, writer) < 10
    await in_step(streaming.follower, writer)


async def test_another_value_in_place_of_the_stream_is_removed(
    streaming: WorkerFeed, writer: Writer, client: Any
) -> None:
    epoch, _, _ = await writer.truth()
    await client.set(stream.key(epoch), "what is this")
    assert await follows_the_stream(streaming, writer) < 10
    await in_step(streaming.follower, writer)


async def test_a_stream_without_proofs_is_started_again(
    reader: WorkerFeed, writer: Writer, database: str, redis: RedisServer, client: Any
) -> None:
    """As earlier versions wrote it."""
    await in_step(reader.follower, writer)
    epoch, rev, _ = await writer.truth()
    await client.xadd(stream.key(epoch), {"kind": "key", "nonce": "x"}, f"{rev + 1}-0")
    await writer.puts(range(3))
    assert await in_step(reader.follower, writer) < 3
    relay = Relay(PostgresSource(database), stream.client(redis.url))
    await relay.publish()
    await relay.close()
    last = await client.xrevrange(stream.key(epoch), count=1)
    assert codec(epoch).decode(*last[0]).change.rev == rev + 3


async def test_another_secret_of_the_same_epoch_is_read_again(
    streaming: WorkerFeed, writer: Writer
) -> None:
    """The database was restored from a backup of before it had the secret, and migrated."""
    await writer.connection.execute("UPDATE feed_head SET stream_secret = 'another'")
    pids = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1"
    await writer.connection.execute(pids, "copse feed")
    await asyncio.sleep(0)
    assert await follows_the_stream(streaming, writer, 30) < 30
    await in_step(streaming.follower, writer)
