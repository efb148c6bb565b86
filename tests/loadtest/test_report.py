"""The report: a page that stands alone, plots that are SVG, a summary, figures for programs."""

import json
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from loadtest import report
from loadtest.charts import Line, chart
from loadtest.page import page
from loadtest.summary import summary
from tests.loadtest.runs import PLAN, START, account, figures


class _Tags(HTMLParser):
    """Counts tags, and notes what the page would load."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loads += [str(value) for name, value in attrs if name in ("src", "href")]


def test_the_page_has_everything_and_loads_nothing() -> None:
    text = page(figures())
    parser = _Tags()
    parser.feed(text)
    assert parser.loads == []
    assert parser.tags.count("svg") == 6
    for told in ("Passed", "100 answers compared, all right", "00ff at rev 7", PLAN.command):
        assert told in text
    assert "A &lt;note&gt;." in text
    assert "$" not in text


def test_a_failed_run_says_so() -> None:
    failed = figures({START: {"match": account(1, _500=1)}})
    assert "Failed" in page(failed)
    assert "FAILED" in summary(failed)


def test_a_plot_is_well_formed_and_within_its_bounds() -> None:
    points = [(float(x), float(y)) for x, y in enumerate((0, 5, 1234, 7))]
    figure = ElementTree.fromstring(
        chart("Rate", "a & b", [Line("one", points, True), Line("none", [])], 4, [(2.0, "<x>")])
    )
    (line,) = figure.iter("polyline")
    (drawing,) = figure.iter("svg")
    _, _, width, height = map(float, drawing.attrib["viewBox"].split())
    for pair in line.attrib["points"].split():
        x, y = map(float, pair.split(","))
        assert 0 <= x <= width
        assert 0 <= y <= height
    labels = [text.text for text in figure.iter("text")]
    assert {"0", "250", "1,250"} <= set(labels)  # round numbers, from nothing to the highest


@pytest.mark.parametrize("values", [[], [0.0], [0.0, 0.0], [1e-3], [3.0, 1e6]])
@pytest.mark.parametrize("logarithmic", [False, True])
def test_every_plot_can_be_drawn(values: list[float], logarithmic: bool) -> None:
    line = Line("one", [(float(x), y) for x, y in enumerate(values)])
    ElementTree.fromstring(chart("t", "u", [line], len(values), logarithmic=logarithmic))


def test_the_report_is_a_folder(tmp_path: Path) -> None:
    folder = report.write(figures(plan=replace(PLAN, reports=tmp_path)))
    assert folder.name.startswith("mixed-2026")
    assert sorted(path.name for path in folder.iterdir()) == [
        "figures.json",
        "report.html",
        "summary.md",
    ]
    told = json.loads((folder / "figures.json").read_text())
    assert told["passed"] is True
    assert told["rows"][0]["count"] == 20
    lines = (folder / "summary.md").read_text().splitlines()
    assert len({line.count("|") for line in lines if line.startswith("|")}) == 1
