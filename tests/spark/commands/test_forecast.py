"""Forecasts and backtests by Spark: hits compared with a count by hand, bounds with the API's."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from campaigns.catalogue import service as attribute
from campaigns.statistics.estimate import Sums, estimate
from migrations.run import upgrade
from spark.commands import main
from spark.forecast import variants
from tests.app.conftest import on_store
from tests.spark.conftest import DAY, line, write_log

PROPOSED = [
    {"name": "adults", "targeting": "reach.age >= 18"},
    {"external_id": "nobody", "targeting": "reach.age = 999"},
    {"targeting": "now.hour = 12"},
]


@pytest.fixture
def url(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path / 'copse.sqlite3'}"
    upgrade(url)
    made = {"name": "reach.age", "type": "int"}
    on_store(url, lambda store: attribute.create(store, "test", made))
    return url


def _log(root: Path) -> None:
    rows = [line({"reach.age": age}, id=str(age), sample_rate=0.5) for age in range(60)]
    write_log(root, [*rows, b"not a row"])


def _forecasts(
    tmp_path: Path, url: str, *more: str, campaigns: list[dict[str, str]] = PROPOSED
) -> dict[str, Any]:
    file = tmp_path / "proposed.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in campaigns))
    out = tmp_path / "out"
    where = ["--database-url", url, "--campaigns", str(file), "--out", str(out)]
    assert main(["forecast", *where, *more]) == 0
    lines = [text for part in out.glob("part-*.json") for text in part.read_text().splitlines()]
    return {row["name"]: row for row in map(json.loads, lines)}


def test_a_log_is_matched_by_the_index(spark: SparkSession, tmp_path: Path, url: str) -> None:
    log = tmp_path / "log"
    _log(log)
    found = _forecasts(tmp_path, url, "--impressions", str(log), "--date", DAY)
    assert {name: row["hits"] for name, row in found.items()} == {
        "adults": 42,
        "nobody": 0,
        "line 3": 60,
    }
    asked, hit = {DAY: Sums(60, 120.0, 240.0)}, {DAY: Sums(42, 84.0, 168.0)}
    expected = estimate({"requests_by_day": {DAY: 120.0}}, asked, hit)
    adults = found["adults"]
    assert (adults["low"], adults["high"]) == (math.floor(expected.low), math.ceil(expected.high))
    assert adults["low"] <= 84 <= adults["high"]
    assert not adults["insufficient_data"]
    assert found["nobody"]["insufficient_data"]
    assert found["nobody"]["low"] == 0 < found["nobody"]["high"]


def test_the_sample_of_the_active_statistics_is_matched(
    spark: SparkSession, tmp_path: Path, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--database-url", url]
    file = tmp_path / "one.jsonl"
    file.write_text(json.dumps(PROPOSED[0]))
    assert main(["forecast", *where, "--campaigns", str(file)]) == 1
    assert "no statistics are active" in capsys.readouterr().err
    log = tmp_path / "log"
    _log(log)
    job = ["--impressions", str(log), "--date", DAY, "--least-rows", "10"]
    assert main(["selectivity", *where, *job]) == 0
    found = _forecasts(tmp_path, url)
    assert found["adults"]["hits"] == 42


def test_each_predicate_is_left_out_in_turn(
    spark: SparkSession,
    tmp_path: Path,
    url: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ages from 0 to 59, of which each stands for two requests."""
    campaigns = [
        {"name": "young", "targeting": "reach.age >= 18 and reach.age < 40"},
        {"name": "either", "targeting": "reach.age < 10 or reach.age > 49"},
        {"name": "nobody", "targeting": "reach.age = 999"},
        {"name": "all", "targeting": "true"},
    ]
    log = tmp_path / "log"
    _log(log)
    day = ["--impressions", str(log), "--date", DAY]
    found = _forecasts(tmp_path, url, *day, campaigns=campaigns)
    assert "young  (insufficient data; without reach.age +91%)" in capsys.readouterr().out
    # 44 requests; 80 are below 40, and 84 are 18 or more.
    older, younger = found["young"]["without"]
    assert older == {
        "predicate": "reach.age >= 18",
        "attribute": "reach.age",
        "matched_requests_per_day": 80,
        "change": 0.8182,
        "words": "without reach.age +82%",
    }
    assert (younger["matched_requests_per_day"], younger["change"]) == (84, 0.9091)
    assert found["young"]["nearest_miss"] == younger
    assert [each["words"] for each in found["either"]["without"]] == ["without reach.age -50%"] * 2
    assert "nearest_miss" not in found["either"]  # Spark leaves out what is null
    (anybody,) = found["nobody"]["without"]
    assert anybody["matched_requests_per_day"] == 120
    assert (anybody.get("change"), anybody["words"]) == (None, "without reach.age 120")
    assert found["nobody"]["nearest_miss"] == anybody
    assert found["all"]["without"] == []
    monkeypatch.setattr(variants, "BYTES_A_ROUND", 100)  # one campaign at a time
    assert _forecasts(tmp_path, url, *day, campaigns=campaigns) == found
    first = _forecasts(tmp_path, url, *day, "--without", "1", campaigns=campaigns)
    assert first["young"]["without"] == [older] == [first["young"]["nearest_miss"]]
    assert first["young"]["hits"] == 22


def test_more_predicates_than_the_bound_are_refused(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as refused:
        main(["forecast", "--database-url", url, "--without", "51"])
    assert refused.value.code == 2
    assert "51 is not from 0 to 50" in capsys.readouterr().err


def test_a_wrong_line_is_named(
    tmp_path: Path, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "wrong.jsonl"
    file.write_text(json.dumps(PROPOSED[0]) + '\n{"targeting": "no.such = 1"}\n')
    assert main(["forecast", "--database-url", url, "--campaigns", str(file)]) == 1
    assert "wrong.jsonl, line 2" in capsys.readouterr().err


def test_a_backtest_counts_who_was_right(
    spark: SparkSession, tmp_path: Path, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log"
    for day, people in ((14, 60), (15, 66), (16, 63)):
        time = 1794830400.0 - (16 - day) * 86400
        rows = [line({"reach.age": age}, id=f"{day} {age}", time=time) for age in range(people)]
        write_log(log, rows, f"2026-11-{day}")
    file = tmp_path / "some.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in PROPOSED))
    where = ["--database-url", url, "--impressions", str(log), "--campaigns", str(file)]
    assert main(["backtest", *where, "--days", "2"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("2 of 2 campaigns (100.0%) had their requests of 2026-11-16 within")
    rows = [line({"reach.age": 1}, id=f"16 {number}") for number in range(900)]
    write_log(log, rows)
    assert main(["backtest", *where, "--days", "2"]) == 1
    assert capsys.readouterr().out.startswith("0 of 2 campaigns")
