"""The arithmetic of docs/scaling.md, by hand, and that the page shows what the command prints."""

import re
import shlex
from pathlib import Path

import pytest

from loadtest.sizing import Costs, lines_of, main

PAGE = (Path(__file__).parent.parent.parent / "docs/scaling.md").read_text()
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


def test_the_page_has_tables() -> None:
    assert len(SHOWN) == 3


@pytest.mark.parametrize(("arguments", "table"), SHOWN)
def test_the_page_shows_what_the_command_prints(
    arguments: str, table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(shlex.split(arguments.replace("\\\n", " ")))
    assert capsys.readouterr().out.strip() == table.strip()
