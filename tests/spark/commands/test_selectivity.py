"""The whole job on a generated day, with every figure compared with a plain Python computation; and
what it does with days and versions that it must not use."""

import gzip
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from itertools import islice
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from pyspark.sql import SparkSession

from campaigns.campaign.service import activate, create
from campaigns.catalogue import service as attribute
from campaigns.log import audit
from campaigns.log.audit import AuditFilter
from campaigns.statistics import service as statistics
from campaigns.statistics.document import canonical
from campaigns.statistics.versions import FAILED, PASSED, StatisticsVersion
from campaigns.store import Store
from index.language.json_form import from_json
from migrations.run import upgrade
from spark import database
from spark.commands import main, quarantine
from spark.directory import Directory
from spark.quarantine import write_quarantine
from testkit.database import declare
from testkit.impressions import write_day
from testkit.servers import PostgresServer
from testkit.workloads import make
from tests.app.conftest import on_store
from tests.campaigns.conftest import execute
from tests.spark.by_hand import ByHand, lines_of, rounded
from tests.spark.conftest import DAY, NOON, line, write_log

ROWS, HALF_SAMPLED, BAD = 9_000, 3_000, 7
CAMPAIGNS = 30
VALUES, RANGES, SAMPLE = 200, 64, 4_000


@dataclass(frozen=True)
class World:
    """A log, a database, and what the job made of them."""

    root: Path
    url: str
    versions: Sequence[StatisticsVersion]
    document: dict[str, Any]
    sample: bytes
    hand: ByHand


async def _fill(store: Store) -> None:
    workload = make("ads")
    advertisers = await declare(store, workload)
    schema = (await store.catalogue()).schema
    for number, tree in enumerate(islice(workload.expressions(), CAMPAIGNS)):
        fields = {
            "name": f"campaign {number}",
            "advertiser_id": advertisers[0],
            "targeting": str(from_json(tree, schema, store.limits)),
        }
        made = await create(store, "test", fields)
        await activate(store, "test", made.id)


def versions_of(url: str) -> Sequence[StatisticsVersion]:
    return on_store(url, statistics.page).items


def content_of(url: str, id: int) -> tuple[dict[str, Any], bytes]:
    document = on_store(url, lambda store: statistics.document(store, id))
    return document, on_store(url, lambda store: statistics.sample(store, id))


@pytest.fixture(scope="module")
def world(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> World:
    root = tmp_path_factory.mktemp("impressions")
    url = f"sqlite:///{tmp_path_factory.mktemp('database') / 'copse.sqlite3'}"
    upgrade(url)
    on_store(url, _fill)
    day = date.fromisoformat(DAY)
    write_day(root, day, ROWS, seed=1, even=True)
    write_day(root, day, HALF_SAMPLED, seed=2, sample_rate=0.5, even=True)
    bad: list[Any] = [b"{", *[line({"user.age": "old"}, id="bad")] * (BAD - 1)]
    write_log(root, bad)
    log = ["--impressions", str(root), "--database-url", url, "--date", DAY]
    amounts = ["--values", str(VALUES), "--sample", str(SAMPLE)]
    assert main(["selectivity", *log, *amounts]) == 0
    versions = versions_of(url)
    document, sample = content_of(url, versions[0].id)
    good = [row for row in lines_of(root) if row["request_id"] != "bad"]
    return World(root, url, versions, document, sample, ByHand(good))


def test_rows_and_requests(world: World) -> None:
    document = world.document
    assert document["rows"] == len(world.hand.rows) == ROWS + HALF_SAMPLED
    assert document["quarantined"] == BAD
    assert document["requests"] == world.hand.whole == ROWS + 2 * HALF_SAMPLED
    assert document["requests_by_day"] == {DAY: document["requests"]}
    assert document["window"] == {
        "from": "2026-11-16T00:00:00Z",
        "to": "2026-11-17T00:00:00Z",
        "days": [DAY],
    }


def test_every_figure_of_every_attribute(world: World) -> None:
    hand = world.hand
    found = world.document["attributes"]
    assert set(hand.there) <= set(found)
    for each in make("ads").schema:
        name, about = each.name, found[each.name]
        assert about["type"] == each.type.value
        assert about["presence"] == hand.share(hand.there[name]), name
        assert about["distinct"] == len(hand.values[name]), name
        if each.type.is_list:
            assert about["empty"] == hand.share(hand.empty[name]), name
            assert about["elements"] == hand.common(name, VALUES), name
            continue
        assert about["values"] == hand.common(name, VALUES), name
        if each.type.value in ("int", "float"):
            assert about["histogram"] == hand.histogram(name, VALUES, RANGES), name
        else:
            assert "histogram" not in about
    assert any(about.get("histogram") for about in found.values())
    assert "now.hour" not in found


def test_the_sample_is_of_the_log_as_it_was(world: World) -> None:
    rows = [json.loads(text) for text in gzip.decompress(world.sample).splitlines()]
    expected = world.hand.sample(SAMPLE)
    assert rows == expected
    found = world.document["sample"]
    assert found["rows"] == SAMPLE
    assert found["rate"] == rounded(Fraction(SAMPLE) / world.hand.whole)


def test_malformed_rows_are_set_aside_with_what_is_wrong(world: World) -> None:
    files = list((world.root / "_quarantine" / f"dt={DAY}").glob("rows=*/part-*.json"))
    rows = [json.loads(text) for file in files for text in file.read_text().splitlines()]
    assert sorted(row["problem"] for row in rows) == ["not_json", *["wrong_type"] * (BAD - 1)]


def test_the_version_steers(world: World) -> None:
    (version,) = world.versions
    assert version.active
    findings = {finding["gate"]: finding for finding in version.findings}
    assert {"rows", "quarantine", "replay.matches", "replay.cost"} <= set(findings)


def test_a_second_run_is_the_same_version(
    world: World, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Also where other statistics steer by then, and rows of one id and time come in another
    order."""
    rows = [
        {**row, "time": NOON, "request_id": str(number // 2)}
        for row, number in zip(lines_of(world.root), range(2000), strict=False)
    ]
    write_log(tmp_path / "one", rows)
    write_log(tmp_path / "other", rows[::-1])
    kept = ["--database-url", world.url, "--date", DAY, "--no-activate", "--most-drift", "99"]
    kept += ["--sample", "300"]
    for name in ("one", "other"):
        assert main(["selectivity", "--impressions", str(tmp_path / name), *kept]) == 0
        assert (
            "version 2 is stored; next: POST /v1/statistics/2/activate" in capsys.readouterr().out
        )
    assert [version.id for version in versions_of(world.url)] == [2, 1]


def test_a_day_that_is_not_there_changes_nothing(
    world: World, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    log = ["--impressions", str(world.root), "--database-url", world.url, "--date", DAY]
    assert main(["selectivity", *log, "--days", "2"]) == 3
    assert "no impressions of 2026-11-15" in capsys.readouterr().err
    write_log(tmp_path, [b"nothing good"])
    log = ["--impressions", str(tmp_path), "--database-url", world.url, "--date", DAY]
    assert main(["selectivity", *log]) == 3
    assert "no good row (1 malformed)" in capsys.readouterr().err
    assert main(["selectivity", *log, "--impressions", str(tmp_path / "none")]) == 3
    assert [version.id for version in versions_of(world.url) if version.active] == [1]


def test_a_version_that_fails_a_gate_is_kept_and_does_not_steer(
    world: World, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    write_log(tmp_path, [line({"country": "country-0"}, id=str(number)) for number in range(50)])
    log = ["--impressions", str(tmp_path), "--database-url", world.url, "--date", DAY]
    assert main(["selectivity", *log]) == 4
    printed = capsys.readouterr().err
    assert "50 rows, of at least 1000" in printed
    assert "country has drifted" in printed
    newest, *_, first = versions_of(world.url)
    assert (newest.active, newest.gates) == (False, FAILED)
    assert first.active


def test_two_runs_at_once_make_one_version(
    spark: SparkSession,
    postgres: PostgresServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each waits for the other before it sets rows aside, and again before it stores."""
    execute(postgres.url, "CREATE DATABASE at_once")
    url = postgres.url_of("at_once")
    upgrade(url)
    made = {"name": "at.once", "type": "int"}
    on_store(url, lambda store: attribute.create(store, "test", made))
    rows = [line({"at.once": number % 7}, id=str(number)) for number in range(97)]
    write_log(tmp_path, [*rows, b"{", b"[", line({"at.once": "text"})])
    meeting = Barrier(2, timeout=120)

    def meet_before(work: Callable[..., Any]) -> Callable[..., Any]:
        def met(*given: Any) -> Any:
            meeting.wait()
            return work(*given)

        return met

    monkeypatch.setattr(quarantine, "write_quarantine", meet_before(write_quarantine))
    monkeypatch.setattr(database, "publish", meet_before(database.publish))
    log = ["--impressions", str(tmp_path), "--database-url", url, "--date", DAY]
    job = ["selectivity", *log, "--least-rows", "10", "--sample", "20"]
    with ThreadPoolExecutor(2) as both:
        assert list(both.map(main, [job, job])) == [0, 0]
    (version,) = versions_of(url)
    assert (version.active, version.gates) == (True, PASSED)
    assert (version.rows, version.quarantined) == (97, 3)
    document, sample = content_of(url, version.id)
    assert hashlib.sha256(canonical(document)).hexdigest() == version.checksum
    assert hashlib.sha256(sample).hexdigest() == document["sample"]["checksum"]
    only = AuditFilter(kind="statistics")
    entries = on_store(url, lambda store: audit.page(store, only)).items
    actions = [entry.action for entry in entries]
    assert (actions.count("create"), actions.count("activate")) == (1, 1)
    (folder,) = (tmp_path / "_quarantine" / f"dt={DAY}").iterdir()
    assert not [path for path in folder.iterdir() if path.is_dir()]
    texts = [text for part in folder.glob("part-*") for text in part.read_text().splitlines()]
    problems = sorted(json.loads(text)["problem"] for text in texts)
    assert problems == ["not_json", "not_json", "wrong_type"]


def test_who_settles_second_leaves_nothing(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the first one came between its look and its rename."""
    settled = Directory(spark, str(tmp_path)).child("rows=1")
    first, second = (
        Directory(spark, str(tmp_path)).unfinished(),
        Directory(spark, str(tmp_path)).unfinished(),
    )
    for each, content in ((first, "first"), (second, "second")):
        folder = Path(each.path.removeprefix("file:"))
        folder.mkdir()
        (folder / "part-0").write_text(content)
    first.rename(settled)
    monkeypatch.setattr(Directory, "exists", lambda _: False)
    second.rename(settled)
    assert [path.name for path in tmp_path.iterdir()] == ["rows=1"]
    (part,) = (tmp_path / "rows=1").iterdir()
    assert part.read_text() == "first"


def test_without_java_it_says_what_to_type(world: World) -> None:
    environment = {**os.environ, "PATH": "/nowhere"}
    environment.pop("JAVA_HOME", None)
    log = ["--impressions", str(world.root), "--database-url", world.url, "--date", DAY]
    done = subprocess.run(
        [sys.executable, "-m", "spark", "selectivity", *log],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "apt-get install -y openjdk-17-jre-headless" in done.stderr
    assert "Traceback" not in done.stderr
