"""A snapshot into a fresh view, and a start from an index file."""

import asyncio
from pathlib import Path

import pytest

from campaigns.feed import load as load_module
from campaigns.feed.index_file import IndexFile, NoIndexFile
from campaigns.feed.load import load
from campaigns.feed.postgres import PostgresSource
from campaigns.feed.view import View
from index import Exclude, Limits, Query
from tests.campaigns.feed.writing import Writer

MANY = 1_234
BLOCKS_IAB1 = Query(exclude=Exclude(labels=["IAB1"]))


async def fill(writer: Writer) -> None:
    await writer.prepare()
    await writer.connection.execute(
        "INSERT INTO campaigns (id, advertiser_id, name, status, priority, bid_micros, categories, "
        "targeting, tree, attribute_names, fingerprint, version, rev, created_at, updated_at) "
        "SELECT n, 1, '', CASE WHEN n % 10 = 0 THEN 'paused' ELSE 'active' END, 5, 1000, "
        "CASE WHEN n % 2 = 0 THEN '[\"IAB1\"]'::json ELSE '[]' END, '', "
        "'[1,[\"=\",\"age\",' || n % 7 || ']]', '[]', '', 3, 0, now(), now() "
        f"FROM generate_series(1, {MANY}) n"
    )


async def same(view: View, writer: Writer) -> bool:
    return (*view.place[:2], view.digest()) == await writer.truth()


async def test_everything_is_loaded_in_batches(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load_module, "BATCH", 100)
    progress: list[tuple[int, int]] = []

    async with Writer.open(database) as writer:
        await fill(writer)
        await writer.key(1)
        await writer.key(2)
        await writer.key(2, revoked=True)
        await writer.advertiser(4, "paused", "b.example")
        source = PostgresSource(database)
        view = await load(source, Limits(), lambda done, total: progress.append((done, total)))
        await source.close()
        assert await same(view, writer)
        assert len(view.index) == MANY - MANY // 10
        labelled = [id for id in view.index if view.index.labels(id)]
        assert len(labelled) == MANY // 2 - MANY // 10
        assert view.index.muted() == {4}
        assert view.domains == {4: "b.example"}
        assert view.advertisers_by_domain.blocked_by(["b.example"]) == (4,)
        wanted = view.index.match({"age": 3})
        blocked = view.index.ask({"age": 3}, BLOCKS_IAB1).ids
        assert blocked == [id for id in wanted if id not in labelled] != wanted
        assert set(view.keys) == {"prefix1"}
        assert set(view.catalogue) == {"age"}
        assert "now.hour" in view.index.schema
    total = MANY - MANY // 10
    assert progress[-1] == (total, total)
    assert progress[0] == (100, total)
    assert len(progress) == total // 100 + 1


async def test_a_row_that_the_index_refuses_is_poisoned_and_the_rest_is_loaded(
    database: str,
) -> None:
    async with Writer.open(database) as writer:
        await fill(writer)
        for id, tree in ((5, "nonsense"), (6, '[1,["=","nobody",1]]'), (1233, "[1,7]")):
            await writer.connection.execute(
                "UPDATE campaigns SET tree = $2, rev = 1 WHERE id = $1", id, tree
            )
        source = PostgresSource(database)
        view = await load(source, Limits())
        await source.close()
        assert {object_id for _, object_id in view.poisoned} == {"5", "6", "1233"}
        assert len(view.index) == MANY - MANY // 10 - 3


async def test_a_start_from_a_file_reads_only_what_came_since(
    database: str, tmp_path: Path
) -> None:
    progress: list[tuple[int, int]] = []

    kept = IndexFile(tmp_path)
    source = PostgresSource(database)
    async with Writer.open(database) as writer:
        await fill(writer)
        kept.save(await load(source, Limits()))
        await writer.puts([1, 2, 3000], age=77)
        await writer.put(4, "paused")
        await writer.delete(7)
        await writer.attribute("vip", "bool")
        await writer.put(8, tree=[1, ["holds", "vip"]])
        await writer.advertiser(9, "paused")
        await writer.key(1)
        view = await load(source, Limits(), lambda *each: progress.append(each), kept)
        assert await same(view, writer)
        assert progress == [], "not every campaign was read"
        assert view.index.match({"age": 77, "vip": True}) == [1, 2, 8, 3000]
        assert view.index.muted() == {9}
        assert set(view.keys) == {"prefix1"}
        assert view.index.labels(12) == ["IAB1"]
        assert 12 in view.index.match({"age": 5})
        assert 12 not in view.index.ask({"age": 5}, BLOCKS_IAB1).ids

        await writer.put(8)
        await writer.attribute("vip", "int")  # the file has another type
        kept.save(view)
        assert await same(await load(source, Limits(), kept=kept), writer)

        kept.save(view)
        await writer.new_epoch()
        assert await same(await load(source, Limits(), kept=kept), writer)
    await source.close()


@pytest.mark.parametrize("change", ["pruned", "another nonce", "another epoch"])
async def test_a_file_that_does_not_fit_is_not_used(
    database: str, tmp_path: Path, change: str
) -> None:
    progress: list[int] = []

    source = PostgresSource(database)
    kept = IndexFile(tmp_path)
    async with Writer.open(database) as writer:
        await fill(writer)
        rev = await writer.put(1)
        kept.save(await load(source, Limits()))
        await writer.puts(range(20, 30))
        if change == "pruned":
            await writer.prune(rev + 2)
        elif change == "another nonce":
            await writer.connection.execute("UPDATE changes SET nonce='x' WHERE rev=$1", rev)
        else:
            await writer.new_epoch()
        view = await load(source, Limits(), lambda done, _: progress.append(done), kept)
        assert await same(view, writer)
    await source.close()
    assert progress, "every campaign was read"


def saved(database: str, directory: Path) -> None:
    async def story() -> None:
        source = PostgresSource(database)
        async with Writer.open(database) as writer:
            await writer.prepare()
            await writer.puts(range(3))
        IndexFile(directory).save(await load(source, Limits()))
        await source.close()

    asyncio.run(story())


def test_a_crash_in_the_middle_of_saving_leaves_the_old_file(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Crash(Exception):
        pass

    def crash(*_: object) -> None:
        raise Crash

    saved(database, tmp_path)
    kept = IndexFile(tmp_path)
    view = kept.load(Limits())
    before = view.place
    view.arrive("another", 99, "other")
    for step in ("os.fsync", "pathlib.Path.replace"):
        with monkeypatch.context() as patched:
            patched.setattr(step, crash)
            with pytest.raises(Crash):
                kept.save(view)
        assert kept.load(Limits()).place[:3] == before[:3]
    kept.save(view)
    assert kept.load(Limits()).place[:3] == ("another", 99, "other")
    assert len(list(tmp_path.glob("index-*"))) == 1


@pytest.mark.parametrize("damage", ["no index", "cut index", "cut json", "nothing"])
def test_what_is_not_whole_is_no_file(database: str, tmp_path: Path, damage: str) -> None:
    saved(database, tmp_path)
    (index,) = tmp_path.glob("index-*")
    beside = tmp_path / "index.json"
    match damage:
        case "no index":
            index.unlink()
        case "cut index":
            index.write_bytes(index.read_bytes()[:-10])
        case "cut json":
            beside.write_bytes(beside.read_bytes()[:-10])
        case _:
            beside.unlink()
    with pytest.raises(NoIndexFile):
        IndexFile(tmp_path).load(Limits())
