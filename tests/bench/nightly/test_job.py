"""`python -m bench job`: the figures of DuckDB are those of a count by hand, and of the job."""

from datetime import date
from pathlib import Path

import pytest

from bench.nightly.duck import figures
from index import Attribute, Schema
from spark.statistics.options import Options
from testkit import impressions
from testkit.impressions import write_day
from testkit.workloads import make
from tests.bench.conftest import Bench
from tests.spark.by_hand import ByHand, lines_of

VALUES, RANGES, SAMPLE = 20, 8, 50


def test_duckdb_gives_the_figures_of_a_count_by_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TEMPLATES", "DRAWS", "RARE_DRAWS"):
        monkeypatch.setattr(impressions, name, 64)
    write_day(tmp_path, date(2026, 11, 16), 400, sample_rate=0.5, even=True)
    hand = ByHand(list(lines_of(tmp_path)))
    others = [Attribute("os", "version"), Attribute("net", "ip"), Attribute("place", "point")]
    schema = Schema([*make("ads").schema, *others])
    options = Options(values=VALUES, ranges=RANGES, sample=SAMPLE)
    found = figures("json", f"{tmp_path}/dt=*/hour=*/*.jsonl", schema, options)
    assert found["rows"] == 400
    for each in schema:
        name, about = each.name, found["attributes"][each.name]
        assert about["presence"] == hand.share(hand.there[name]), name
        assert about["distinct"] == len(hand.values[name]), name
        assert about["common"] == hand.common(name, VALUES), name
        if each.type.value in ("int", "float"):
            assert about["histogram"] == hand.histogram(name, VALUES, RANGES), name
    assert any(about.get("histogram") for about in found["attributes"].values())
    assert len(found["lots"]) == SAMPLE == len(set(found["lots"]))


@pytest.mark.long
def test_every_way_to_the_figures_is_measured(bench: Bench) -> None:
    """It fails where DuckDB's figures are not the job's, or Parquet gives others than JSON."""
    printed = bench("job", "--rows", "2000")
    cells = [line.strip("|").split("|") for line in printed if "2,000" in line]
    assert [row[1].strip().split(",")[0] for row in cells] == [
        "the job",
        "compact",
        "the job",
        "DuckDB",
        "DuckDB",
    ]
    assert all(float(row[2]) > 0 and float(row[4]) > 0 for row in cells)
