"""A worker is killed with -9 exactly at each step that matters: the relay around an XADD, a replica
while it loads, applies and saves. Whoever comes after it finds nothing missing and nothing twice.
"""

from pathlib import Path
from typing import Any

from campaigns.feed import stream
from campaigns.feed.index_file import IndexFile
from campaigns.feed.service import WorkerFeed
from index import Limits
from testkit.servers import RedisServer
from tests.campaigns.feed.conftest import codec, eventually, in_step
from tests.campaigns.feed.failpoints import Copy, Patch
from tests.campaigns.feed.workers import until_at, until_dead
from tests.campaigns.feed.writing import Writer

RELAY = [
    Patch(
        "feed/relay.py",
        "        for answer in await pipeline.execute(raise_on_error=False):\n",
        """\
        _die("before XADD")
        middle, after = _armed("in the middle of XADD"), _armed("after XADD")
        if middle:
            del pipeline.command_stack[2:]
        answers = await pipeline.execute(raise_on_error=False)
        if middle or after:
            _die("in the middle of XADD")
            _die("after XADD")
        for answer in answers:
""",
    )
]
"""What was armed only while a batch was on its way to Redis is for the next batch."""

PUBLISHED = {"before XADD": 0, "in the middle of XADD": 2, "after XADD": 5}
"""How many of five changes that are committed together get into the stream."""


async def test_the_relay_is_killed_around_an_xadd(
    reader: WorkerFeed,
    writer: Writer,
    database: str,
    redis: RedisServer,
    tmp_path: Path,
    client: Any,
) -> None:
    copy = Copy(tmp_path, RELAY)
    epoch = (await writer.truth())[0]

    async def last() -> int:
        entries = await client.xrevrange(stream.key(epoch), count=1)
        return int(entries[0][0].partition(b"-")[0]) if entries else 0

    async def published() -> bool:
        return await last() == (await writer.truth())[1]

    for step, some in PUBLISHED.items():
        with copy.worker(database, redis.url) as relay:
            await eventually(published, 20, "it relays what the one before it did not")
            before = await last()
            with copy.dying(step):
                async with writer.transaction():
                    await writer.puts(range(5))
                await until_dead(relay)
            assert await last() == before + some, step
        assert await in_step(reader.follower, writer) < 3, step
    with copy.worker(database, redis.url):
        await eventually(published, 20, "what is left is published")
    entries = [codec(epoch).decode(*each) for each in await client.xrange(stream.key(epoch))]
    assert [link.change.rev for link in entries] == list(range(1, await last() + 1))
    nonces = ["", *(link.change.nonce for link in entries)]
    assert [link.previous for link in entries] == nonces[:-1]
    assert not [what for what, _ in reader.follower.counts if what == "load"]


REPLICA = [
    Patch(
        "feed/load.py",
        "    insert_rows(view, rows, revs)\n",
        """\
    _die("nothing inserted")
    insert_rows(view, rows, revs)
    _die("campaigns inserted")
""",
    ),
    Patch(
        "feed/load.py",
        "        view.arrive(reading.head.epoch, reading.head.rev, reading.head.nonce)\n",
        """\
        _die("all loaded")
        view.arrive(reading.head.epoch, reading.head.rev, reading.head.nonce)
""",
    ),
    Patch(
        "feed/load.py",
        "        await asyncio.to_thread(apply, saved, campaigns)\n",
        """\
        await asyncio.to_thread(apply, saved, campaigns)
        _die("caught up from the file")
""",
    ),
    Patch(
        "feed/follower.py",
        '        self.counts["applied", lane] += count\n',
        """\
        _die("applied")
        self.counts["applied", lane] += count
""",
    ),
    Patch(
        "feed/follower.py",
        "                await asyncio.to_thread(kept.save, self.current)\n",
        """\
                _die("about to save")
                await asyncio.to_thread(kept.save, self.current)
""",
    ),
    Patch(
        "feed/index_file.py",
        "        view.index.save(self.directory / name)\n",
        """\
        view.index.save(self.directory / name)
        if _armed("half of the index"):
            whole = self.directory / name
            content = whole.read_bytes()
            whole.unlink()
            beside = self.directory / f"{name}.{os.getpid()}.writing"
            beside.write_bytes(content[: len(content) // 2])
            _die("half of the index")
        _die("the index")
""",
    ),
    Patch(
        "feed/index_file.py",
        "            file.write(content)\n",
        """\
            if _armed("half of what is beside it"):
                file.write(content[: len(content) // 2])
                file.flush()
                _die("half of what is beside it")
            file.write(content)
""",
    ),
    Patch(
        "feed/index_file.py",
        "        aside.replace(self.directory / _NAME)\n",
        """\
        _die("both, and the old ones count")
        aside.replace(self.directory / _NAME)
        _die("both, and they count")
""",
    ),
]

STARTING = ("nothing inserted", "campaigns inserted", "all loaded")
FOLLOWING = {
    "applied": False,
    "about to save": False,
    "half of the index": False,
    "the index": False,
    "half of what is beside it": False,
    "both, and the old ones count": False,
    "both, and they count": True,
}
"""Whether the new file counts after a death at this step."""


async def test_a_replica_is_killed_at_every_step(
    writer: Writer, database: str, redis: RedisServer, tmp_path: Path
) -> None:
    kept = IndexFile(tmp_path / "kept")
    (tmp_path / "copy").mkdir()
    copy = Copy(tmp_path / "copy", REPLICA)
    arguments = (database, redis.url, "--keep", kept.directory)

    def kept_rev() -> int:
        return kept.load(Limits()).place.rev

    await writer.puts(range(50))
    for step in STARTING:
        with copy.dying(step), copy.worker(*arguments) as replica:
            await until_dead(replica)
        assert not kept.directory.exists()
    for step, counts in FOLLOWING.items():
        with copy.worker(*arguments) as replica:
            await until_at(replica, writer)
            before = kept_rev()
            assert before == (await writer.truth())[1]
            with copy.dying(step):
                after = await writer.put(7, age=before)
                await until_dead(replica)
            assert kept_rev() == (after if counts else before), step
    await writer.puts(range(50, 60))
    with copy.dying("caught up from the file"), copy.worker(*arguments) as replica:
        await until_dead(replica)
    with copy.worker(*arguments) as replica:
        await until_at(replica, writer)
        _, rev, digest = await writer.truth()
        view = kept.load(Limits())
        assert (view.place.rev, view.digest()) == (rev, digest)
    names = sorted(path.name for path in kept.directory.iterdir())
    assert names == [f"index-{rev}-{view.place.nonce}", "index.json"], "nothing is left"
