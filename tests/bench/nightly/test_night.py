"""`python -m bench nightly` and `backtest`, small, with their jobs in the tests' Spark session."""

import io
import re
from collections.abc import Sequence
from contextlib import redirect_stdout
from datetime import date
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from bench.nightly import night
from spark.commands import main
from testkit import impressions
from testkit.impressions import write_day
from testkit.service import NotServing
from tests.bench.conftest import Bench

REQUESTS = 1200


def in_this_session(arguments: Sequence[str]) -> str:
    output = io.StringIO()
    with redirect_stdout(output):
        assert main(arguments) == 0
    return output.getvalue().strip()


def test_a_backtest_holds_campaigns_to_a_day_that_came_after(
    spark: SparkSession,
    tmp_path: Path,
    bench: Bench,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("TEMPLATES", "DRAWS", "RARE_DRAWS"):
        monkeypatch.setattr(impressions, name, 256)
    amounts = ["--rows", "1000", "--days", "2", "--campaigns", "500", "--take", "15"]
    with pytest.raises(SystemExit) as ended:
        bench("backtest", *amounts, "--seed", "3")
    output = capsys.readouterr().out
    found = re.match(
        r"(\d+) of 15 campaigns .* of 2026-11-04 within .* 2 days \(([\d,]+) rows", output
    )
    assert found, output
    assert ended.value.code == (0 if int(found[1]) >= 0.9 * 15 else 1)
    before = (date(2026, 11, 2), date(2026, 11, 3))
    rows = sum(write_day(tmp_path, day, 1000, seed=3) for day in before)
    assert found[2] == f"{rows:,}"


def test_a_night_ends_with_fewer_postings(
    spark: SparkSession, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(night, "run_job", in_this_session)
    monkeypatch.setattr(night, "ASKED", 200)
    monkeypatch.setattr(night, "ROUNDS", 1)
    lines = bench("nightly", "--campaigns", "300", "--requests", str(REQUESTS))
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:5]]
    assert [row[0] for row in cells] == [
        "the ranking of operators",
        "what it counts itself",
        "the night's statistics",
    ]
    ranked, counted, activated = ((float(us), int(postings)) for _, us, postings, *_ in cells)
    assert min(ranked[0], counted[0], activated[0]) > 0
    assert activated[1] * night.WANTED <= ranked[1]
    assert [bool(row[4]) for row in cells] == [False, True, True]  # the service was asked twice
    assert re.match(rf"{REQUESTS:,} rows of .*: version 1 is active", lines[6])
    assert lines[7].endswith("target 1.5: met")


def test_a_job_that_fails_ends_the_night() -> None:
    with pytest.raises(NotServing, match=r"(?s)the job failed with 2:.*arguments are required"):
        night.run_job(["backtest"])


def test_too_few_postings_less_are_a_failure(
    bench: Bench, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [night.Row("ranking", 3.0, 14.9), night.Row("night", 2.0, 10.0, 25.0)]
    monkeypatch.setattr(night, "measure", lambda *_: (rows, "the job's last line"))
    with pytest.raises(SystemExit) as ended:
        bench("nightly")
    assert ended.value.code == 1
    assert "1.49 times fewer postings" in capsys.readouterr().out
