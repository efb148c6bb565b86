"""The report: a summary, and figures for programs."""

import json
from pathlib import Path

from loadtest import report
from loadtest.report import summary
from tests.loadtest.runs import PLAN, START, figures, latencies


def test_the_summary_has_everything() -> None:
    text = summary(figures())
    for expected in (
        "Load test: mixed: passed",
        "100 answers compared, all right",
        "00ff at rev 7",
        "250 bytes in the log, 310 in the stream",
        "a note",
        PLAN.command,
    ):
        assert expected in text


def test_a_failed_run_says_so() -> None:
    failed = figures({START: {"match": latencies(1, _500=1)}})
    assert "FAILED" in summary(failed)
    assert "**1 requests failed**" in summary(failed)


def test_the_report_is_a_folder(tmp_path: Path) -> None:
    report.write(figures(), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["figures.json", "summary.md"]
    content = json.loads((tmp_path / "figures.json").read_text())
    assert content["passed"] is True
    assert content["rows"][0]["count"] == 20
    lines = (tmp_path / "summary.md").read_text().splitlines()
    assert len({line.count("|") for line in lines if line.startswith("|")}) == 1
