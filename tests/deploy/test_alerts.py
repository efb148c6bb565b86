"""The alerts use metrics that exist, and each explains what to do."""

import re
from pathlib import Path

import pytest

from app.observability.metrics.declared import METRICS
from tests.deploy.compressed import rules

ROOT = Path(__file__).parent.parent.parent
ALERTS = rules()
RUNBOOK = (ROOT / "docs/operations.md").read_text()


@pytest.mark.parametrize("rule", ALERTS, ids=lambda rule: str(rule["alert"]))
def test_an_alert_can_fire_and_is_explained(rule: dict[str, dict[str, str]]) -> None:
    named = set(re.findall(r"copse_\w+", str(rule["expr"])))
    known = {metric.name for metric in METRICS}
    assert {name.removesuffix("_bucket") for name in named} <= known
    assert rule["labels"]["severity"] in ("page", "ticket")
    assert f"### {rule['alert']}\n" in RUNBOOK
    assert rule["annotations"]["runbook"] == f"docs/operations.md#{str(rule['alert']).lower()}"


def test_the_explanations_are_of_alerts_that_there_are() -> None:
    assert re.findall(r"^### (Copse\w+)$", RUNBOOK, re.M) == [rule["alert"] for rule in ALERTS]
