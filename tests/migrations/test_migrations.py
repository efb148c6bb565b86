"""Upgrade and downgrade on both databases; the tables are exactly those of the migrations."""

import asyncio
import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from campaigns.feed.lease import Lease
from migrations.run import check, downgrade, latest, upgrade
from testkit.servers import PostgresServer

ROOT = Path(__file__).parents[2]

Ask = Callable[[str], list[tuple[object, ...]]]


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Ask]:
    """The URL of an empty database, and how to ask it."""
    if request.param == "sqlite":
        path = tmp_path / "copse 100%.sqlite3"

        def ask_sqlite(query: str) -> list[tuple[object, ...]]:
            connection = sqlite3.connect(path)
            try:
                with connection:
                    return list(connection.execute(query))
            finally:
                connection.close()

        return f"sqlite:///{path}", ask_sqlite
    server: PostgresServer = request.getfixturevalue("postgres")
    name = "migrated_" + request.node.name.partition("[")[0].lower()
    psql = [str(server.bin / "psql"), "--tuples-only", "--no-align", "--field-separator=\t"]

    def ask(url: str, query: str) -> list[tuple[object, ...]]:
        done = subprocess.run(
            [*psql, url, "--command", query], capture_output=True, text=True, check=True
        )
        return [tuple(line.split("\t")) for line in done.stdout.splitlines()]

    ask(server.url, f"CREATE DATABASE {name}")
    url = server.url.removesuffix("postgres") + name
    return url, lambda query: ask(url, query)


def test_the_tables_are_what_the_code_says(database: tuple[str, Ask]) -> None:
    url, ask = database
    upgrade(url)
    check(url)
    assert ask("SELECT version_num FROM alembic_version") == [(latest(),)]


def test_up_down_and_up_again(database: tuple[str, Ask]) -> None:
    url, ask = database
    upgrade(url)
    [first] = ask("SELECT epoch FROM feed_head")
    upgrade(url)
    assert ask("SELECT epoch FROM feed_head") == [first]
    downgrade(url, "base")
    upgrade(url)
    [second] = ask("SELECT epoch FROM feed_head")
    assert first != second
    check(url)


def test_new_attributes_reach_a_database_that_has_a_history(database: tuple[str, Ask]) -> None:
    url, ask = database
    upgrade(url)
    downgrade(url, "0005")
    ask("DELETE FROM attributes WHERE name LIKE 'imp.video.%' OR name = 'keywords'")
    ask("UPDATE feed_head SET rev = 7")
    upgrade(url)
    changed = ask("SELECT rev, kind, object_id, payload FROM changes ORDER BY rev")
    added = ask("SELECT rev, name, type FROM attributes WHERE rev > 0 ORDER BY rev")
    assert len(changed) == len(added) == 12
    assert [int(str(row[0])) for row in changed] == list(range(8, 20))
    for (_, kind, name, payload), (_, own, type) in zip(changed, added, strict=True):
        assert (kind, name) == ("attribute", own)
        assert json.loads(str(payload)) == {"name": own, "type": type}
    [(rev, catalogue)] = ask("SELECT rev, catalogue_rev FROM feed_head")
    assert int(str(rev)) == int(str(catalogue)) == 19


def test_down_leaves_no_table(database: tuple[str, Ask]) -> None:
    url, ask = database
    upgrade(url)
    downgrade(url, "base")
    tables = (
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        if url.startswith("sqlite")
        else "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
    )
    assert ask(tables) == [("alembic_version",)]


def test_the_log_begins_empty(database: tuple[str, Ask]) -> None:
    url, ask = database
    upgrade(url)
    [row] = ask("SELECT id, rev, catalogue_rev, pruned_rev FROM feed_head")
    assert [int(str(value)) for value in row] == [1, 0, 0, 0]
    assert ask("SELECT rev FROM changes") == []


def test_two_at_once_wait_for_each_other(database: tuple[str, Ask]) -> None:
    url, ask = database
    program = "import sys; from migrations.run import upgrade; upgrade(sys.argv[1])"
    command = [sys.executable, "-c", program, url]
    running = [
        subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) for _ in range(3)
    ]
    ends = [(process.communicate(timeout=60)[1], process.returncode) for process in running]
    assert ends == [("", 0)] * 3
    assert ask("SELECT version_num FROM alembic_version") == [(latest(),)]


async def test_migrations_do_not_wait_for_a_running_relay(postgres: PostgresServer) -> None:
    name = "migrated_beside_a_relay"
    psql = [str(postgres.bin / "psql"), postgres.url, "--command", f"CREATE DATABASE {name}"]
    subprocess.run(psql, check=True, capture_output=True)
    url = postgres.url_of(name)

    lease = await Lease.acquire(url)
    migrating = asyncio.create_task(asyncio.to_thread(upgrade, url))
    done, _ = await asyncio.wait([migrating], timeout=20)
    lease.release()  # otherwise a thread that waits would never end
    await migrating
    assert done


@pytest.mark.parametrize(
    ("tree", "type"),
    [
        ('[1,["and",[">=","device.os_version","14.2"],["=","age",3]]]', "version"),
        ('[1,["not",["in","device.os_version","9","10.1"]]]', "version"),
        ('[1,["starts with","device.os_version","17."]]', "string"),
        ('[1,["between","device.os_version","10","9"]]', "string"),
        ('[1,["=","device.os_version","XP"]]', "string"),
    ],
)
def test_versions_become_versions_unless_a_campaign_needs_text(
    tree: str, type: str, tmp_path: Path
) -> None:
    path = tmp_path / "copse.sqlite3"
    url = f"sqlite:///{path}"
    upgrade(url)
    downgrade(url, "0006")
    with sqlite3.connect(path) as connection:
        old = connection.execute("SELECT name, type FROM attributes WHERE name LIKE '%o%_'")
        assert {"device.os_version": "string"}.items() <= dict(old).items()
        values = (
            "1, 1, 'c', 'active', 0, 0, '[]', 'x', ?, '[\"device.os_version\"]', '', 1, 1, '', ''"
        )
        connection.execute(
            "INSERT INTO campaigns (id, advertiser_id, name, status, priority, bid_micros, "
            "categories, targeting, tree, attribute_names, fingerprint, version, rev, created_at, "
            f"updated_at) VALUES ({values})",
            [tree],
        )
    connection.close()
    upgrade(url)
    with sqlite3.connect(path) as connection:
        types = dict(connection.execute("SELECT name, type FROM attributes").fetchall())
    connection.close()
    assert (types["device.os_version"], types["geo.point"]) == (type, "point")


def test_an_attribute_that_is_called_device_ip_stays(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "copse.sqlite3"
    url = f"sqlite:///{path}"
    upgrade(url)

    def ask(query: str) -> list[tuple[object, ...]]:
        with sqlite3.connect(path) as connection:
            found = connection.execute(query).fetchall()
        connection.close()
        return found

    own = "SELECT type, description FROM attributes WHERE name = 'device.ip'"
    [(type, description)] = ask(own)
    assert (type, "24 bits" in str(description)) == ("ip", True)
    downgrade(url, "0009")
    ask("UPDATE attributes SET description = 'ours' WHERE name = 'device.ip'")
    for id, status in ((7, "active"), (8, "archived")):
        ask(
            "INSERT INTO campaigns (id, advertiser_id, name, status, priority, bid_micros, "
            "categories, targeting, tree, attribute_names, fingerprint, version, rev, created_at, "
            f"updated_at) VALUES ({id}, 1, 'c{id}', '{status}', 0, 0, '[]', 'x', '', "
            "'[\"device.ip\"]', '', 1, 1, '', '')"
        )
    with caplog.at_level("WARNING", "alembic.runtime.migration"):
        upgrade(url)
    assert ask(own) == [("ip", "ours")]
    assert "see campaigns [7]" in caplog.text
