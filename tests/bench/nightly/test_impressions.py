"""`python -m bench impressions`: days as the service writes them, reproducible."""

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from index import Index
from testkit import impressions
from testkit.workloads import make
from tests.bench.conftest import Bench


@pytest.fixture(autouse=True)
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TEMPLATES", "DRAWS", "RARE_DRAWS"):
        monkeypatch.setattr(impressions, name, 64)


def texts_of(out: Path) -> dict[str, bytes]:
    return {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*.jsonl")}


def test_a_day_has_the_rows_asked_for_each_in_its_hour(tmp_path: Path, bench: Bench) -> None:
    options = ("--rows", "500", "--date", "2026-11-20", "--sample-rate", "0.5")
    printed = bench("impressions", "--out", str(tmp_path), *options)
    assert printed == [f"500 impressions of 1 days in {tmp_path}"]
    ids: Counter[str] = Counter()
    index = Index(make("ads").schema)
    index.insert(1, "true")
    for name, content in texts_of(tmp_path).items():
        day, hour, _ = name.split("/")
        for text in content.splitlines():
            row: dict[str, Any] = json.loads(text)
            at = datetime.fromtimestamp(row["time"], UTC)
            assert (day, hour) == (f"dt={at:%Y-%m-%d}", f"hour={at:%H}")
            assert row["builtins"] == {"now.hour": at.hour, "now.weekday": 5}
            assert row["sample_rate"] == 0.5
            assert len(row["attributes"]) == impressions.EVENT_SIZE
            assert index.match(row["attributes"]) == [1]  # the catalogue has all, of these types
            ids[row["request_id"]] += 1
    assert ids.total() == len(ids) == 500


def test_days_differ_and_are_the_same_the_next_time(tmp_path: Path, bench: Bench) -> None:
    options = ("--rows", "300", "--days", "2", "--seed")
    printed = [
        bench("impressions", "--out", str(tmp_path / name), *options, seed)
        for name, seed in (("one", "7"), ("again", "7"), ("other", "8"))
    ]
    one, again, other = (texts_of(tmp_path / name) for name in ("one", "again", "other"))
    assert one == again
    assert not set(one.values()) & set(other.values())
    rows = [
        sum(text.count(b"\n") for name, text in one.items() if name.startswith(f"dt=2026-11-{day}"))
        for day in (16, 17)
    ]
    assert rows[0] != rows[1]
    assert all(200 < count < 450 for count in rows)
    assert printed[0][0].startswith(f"{sum(rows)} impressions of 2 days in ")
