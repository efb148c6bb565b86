"""The names follow the conventions, and the dashboard shows what there is."""

import json
import re
from pathlib import Path

import pytest

from app.observability.metrics.declared import METRICS, SECONDS
from app.observability.metrics.merge import WORKER
from app.observability.metrics.metric import Kind, Metric

DASHBOARD = Path(__file__).parents[4] / "docs/grafana/copse.json"
DOCUMENT = Path(__file__).parents[4] / "docs/metrics.md"
UNITS = (
    *("_total", "_seconds", "_bytes", "_info", "_up"),
    *("_revs", "_campaigns", "_revision", "_changes"),
)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_a_name_tells_the_unit_and_the_kind(metric: Metric) -> None:
    assert re.fullmatch(r"copse_[a-z]+(_[a-z]+)*", metric.name)
    assert metric.name.endswith((*UNITS, "_per_request"))
    assert metric.name.endswith("_total") == (metric.kind is Kind.COUNTER)
    assert bool(metric.buckets) == (metric.kind is Kind.HISTOGRAM)
    assert list(metric.buckets) == sorted(set(metric.buckets))
    assert metric.help.endswith(".")


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_the_document_lists_it(metric: Metric) -> None:
    labels = (*metric.labels, *((WORKER,) if metric.per_worker else ()))
    named = ", ".join(f"`{label}`" for label in labels)
    row = f"| `{metric.name}` | {metric.kind.value} | {named} | {metric.help} |"
    assert row in DOCUMENT.read_text()


def test_names_are_there_once() -> None:
    assert len({metric.name for metric in METRICS}) == len(METRICS)


def test_a_quarter_of_a_millisecond_can_be_told() -> None:
    assert {0.00025, 0.0005, 0.00075, 0.001} <= set(SECONDS)


def queries() -> list[str]:
    board = json.loads(DASHBOARD.read_text())
    panels = [panel["targets"] for panel in board["panels"] if "targets" in panel]
    variables = [str(variable["query"]) for variable in board["templating"]["list"]]
    return [target["expr"] for targets in panels for target in targets] + variables


def test_the_dashboard_names_only_metrics_that_there_are() -> None:
    series = {metric.name for metric in METRICS if metric.kind is not Kind.HISTOGRAM} | {
        f"{metric.name}_{part}"
        for metric in METRICS
        if metric.kind is Kind.HISTOGRAM
        for part in ("bucket", "sum", "count")
    }
    named = {name for query in queries() for name in re.findall(r"\bcopse_\w+", query)}
    assert named - series == set()


def test_the_dashboard_shows_every_metric() -> None:
    text = "\n".join(queries())
    assert [metric.name for metric in METRICS if metric.name not in text] == []


def test_the_dashboard_groups_by_labels_that_there_are() -> None:
    labels = {label for metric in METRICS for label in metric.labels} | {"le", "worker", "instance"}
    groups = [group for query in queries() for group in re.findall(r"\bby \(([^)]*)\)", query)]
    assert {label.strip() for group in groups for label in group.split(",")} <= labels


def test_the_panels_of_the_dashboard_do_not_overlap() -> None:
    panels = json.loads(DASHBOARD.read_text())["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    cells = [
        (x, y)
        for place in (panel["gridPos"] for panel in panels)
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
