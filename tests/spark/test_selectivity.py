"""The whole job on a generated day of 200,000 impressions, every figure held against another
computation; and what it does with days and versions that it must not use."""

import asyncio
import gzip
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from bench.database import declare, opened
from bench.impressions import write_day
from bench.workloads import make
from campaigns.service import statistics
from campaigns.service.campaign import activate, create
from campaigns.statistics.version import FAILED, StatisticsVersion
from index.language.json_form import from_json
from migrations.run import upgrade
from spark.commands import main
from tests.spark.by_hand import ByHand, lines_of, rounded
from tests.spark.conftest import DAY, NOON, line, write_log

ROWS, HALF_SAMPLED, BAD = 150_000, 50_000, 7
CAMPAIGNS = 100
VALUES, RANGES, PAIRS, PAIR_VALUES, PAIR_SHARES, SAMPLE = 200, 64, 5, 100, 300, 20_000


@dataclass(frozen=True)
class World:
    """A log, a database, and what the job made of them."""

    root: Path
    url: str
    versions: list[StatisticsVersion]
    document: dict[str, Any]
    sample: bytes
    hand: ByHand


async def _fill(url: str) -> None:
    async with opened(url) as store:
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


def versions_of(url: str) -> list[StatisticsVersion]:
    async def read() -> list[StatisticsVersion]:
        async with opened(url) as store:
            return list((await statistics.page(store)).items)

    return asyncio.run(read())


def content_of(url: str, id: int) -> tuple[dict[str, Any], bytes]:
    async def read() -> tuple[dict[str, Any], bytes]:
        async with opened(url) as store:
            return await statistics.document(store, id), await statistics.sample(store, id)

    return asyncio.run(read())


@pytest.fixture(scope="module")
def world(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> World:
    root = tmp_path_factory.mktemp("impressions")
    url = f"sqlite:///{tmp_path_factory.mktemp('database') / 'copse.sqlite3'}"
    upgrade(url)
    asyncio.run(_fill(url))
    day = date.fromisoformat(DAY)
    write_day(root, day, ROWS, seed=1, even=True)
    write_day(root, day, HALF_SAMPLED, seed=2, sample_rate=0.5, even=True)
    bad: list[Any] = [b"{", *[line({"user.age": "old"}, id="bad")] * (BAD - 1)]
    write_log(root, bad)
    log = ["--impressions", str(root), "--database-url", url, "--date", DAY]
    amounts = ["--values", str(VALUES), "--pairs", str(PAIRS)]
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
    told = world.document["attributes"]
    assert set(hand.there) <= set(told)
    for attribute in make("ads").schema:
        name, about = attribute.name, told[attribute.name]
        assert about["type"] == attribute.type.value
        assert about["presence"] == hand.share(hand.there[name]), name
        assert about["distinct"] == len(hand.values[name]), name
        if attribute.type.is_list:
            assert about["empty"] == hand.share(hand.empty[name]), name
            assert about["elements"] == hand.common(name, VALUES), name
            continue
        assert about["values"] == hand.common(name, VALUES), name
        if attribute.type.value in ("int", "float"):
            assert about["histogram"] == hand.histogram(name, VALUES, RANGES), name
        else:
            assert "histogram" not in about
    assert any(about.get("histogram") for about in told.values())
    assert "now.hour" not in told


def test_pairs_of_attributes(world: World) -> None:
    pairs = world.document["pairs"]
    assert len(pairs) == PAIRS
    for pair in pairs:
        first, second = pair["attributes"]
        presence, shares = world.hand.pair(first, second, PAIR_VALUES)
        assert pair["presence"] == presence
        assert len(pair["values"]) == min(PAIR_SHARES, len(shares))
        for first, second, share in pair["values"]:
            assert share == shares[first, second]
        least = pair["values"][-1][-1]
        listed = {(first, second) for first, second, _ in pair["values"]}
        assert all(share <= least for key, share in shares.items() if key not in listed)


def test_the_sample_is_of_the_log_as_it_was(world: World) -> None:
    rows = [json.loads(text) for text in gzip.decompress(world.sample).splitlines()]
    expected = world.hand.sample(SAMPLE)
    assert rows == expected
    told = world.document["sample"]
    assert told["rows"] == SAMPLE
    assert told["rate"] == rounded(Fraction(SAMPLE) / world.hand.whole)


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
    """Also where other statistics steer by then, and the rows come in another order."""
    rows = [row for row, _ in zip(lines_of(world.root), range(2000), strict=False)]
    write_log(tmp_path / "one", [{**row, "time": NOON} for row in rows])
    write_log(tmp_path / "other", [{**row, "time": NOON} for row in reversed(rows)])
    kept = ["--database-url", world.url, "--date", DAY, "--no-activate", "--most-drift", "99"]
    for name in ("one", "other"):
        assert main(["selectivity", "--impressions", str(tmp_path / name), *kept]) == 0
        assert "version 2 is kept; next: POST /v1/statistics/2/activate" in capsys.readouterr().out
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
    told = capsys.readouterr().err
    assert "50 rows, of at least 1000" in told
    assert "country has drifted" in told
    newest, *_, first = versions_of(world.url)
    assert (newest.active, newest.gates) == (False, FAILED)
    assert first.active


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
