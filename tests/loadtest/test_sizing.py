"""docs/scaling.md: its arithmetic by hand, and that the command prints it from measured figures."""

import json
import re
import shlex
from typing import Any

import pytest

from loadtest.sizing import MEASURED, Costs, lines_of, main
from testkit import ROOT

PAGE = (ROOT / "docs/scaling.md").read_text()
SOURCES: dict[str, Any] = json.loads(MEASURED.read_text())
SHOWN = re.findall(
    r"^    python -m loadtest\.sizing ?(.*?)\n\n(\|.*?)\n\n", PAGE, re.MULTILINE | re.DOTALL
)


def test_a_table_by_hand() -> None:
    costs = Costs(
        requests_per_s=1000,
        campaigns=4e6,
        shards=2,
        visited=2,
        overhead_us=100,
        match_us=200,
        growth=1.0,
        campaign_bytes=500,
        worker_bytes=1e8,
        busy=0.5,
        cores=4,
        writes_per_s=10,
        change_bytes=1000,
        impression_bytes=1000,
        sample_rate=0.1,
        spark_s=36,
    )
    assert [line.result for line in lines_of(costs)] == [
        "400",  # 2M of 4M campaigns: twice 200
        "1,000",  # twice 100 + 400
        "2",  # a second of CPU a second, half busy
        "1",
        "1.10",  # 2M × 500 B + 0.1 GB
        "4",
        "0.0",  # 5 changes × 1 KB × 2 workers
        "9",  # 100 × 86,400 s
        "0.01",
        "0.2",  # 8.64 × 36 s × 2 / 3,600
    ]


def test_the_command_prints_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--page"])
    assert capsys.readouterr().out == PAGE


def test_the_page_has_tables() -> None:
    assert len(SHOWN) == 3


@pytest.mark.parametrize(("arguments", "table"), SHOWN)
def test_the_page_shows_what_its_commands_print(
    arguments: str, table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(shlex.split(arguments))
    assert capsys.readouterr().out.strip() == table.strip()


@pytest.mark.parametrize("name", [name for name, source in SOURCES.items() if source["page"]])
def test_a_measured_figure_is_what_its_page_says(name: str) -> None:
    page = (ROOT / "docs" / SOURCES[name]["page"]).read_text()
    for value in SOURCES[name]["result"].values():
        for figure in value if isinstance(value, list) else [value]:
            assert (figure if isinstance(figure, str) else f"{figure:,}") in page
