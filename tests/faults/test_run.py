"""A run of about a minute with all its processes; `make faults` runs longer."""

import json
from pathlib import Path

import pytest

from tests.faults.checker import check
from tests.faults.history import Injected
from tests.faults.report import Report
from tests.faults.run import run
from tests.faults.schedule import schedule

SEED = 46332
"""Its first minute has 16 kinds of faults: a host is cut off, drained and gets a burst, workers are
killed and drained, entries are forged, a key is revoked, the disk is full, there is a migration. No
worker is killed just after its host, whose successor may not have one yet."""

SECONDS = 52.0


@pytest.mark.usefixtures("network")  # or skipped, where there can be none
def test_a_minute_of_faults(tmp_path: Path) -> None:
    faults = schedule(SEED, SECONDS)
    history = run(SEED, SECONDS, faults, tmp_path)
    verdict = check(history)

    message = "\n".join(map(str, verdict.violations))
    logs = "".join(log.read_text()[-5000:] for log in sorted(tmp_path.glob("service-*.log")))
    assert not verdict.violations, f"{message}\n{logs}"
    done = [each for each in history.records if isinstance(each, Injected)]
    assert sorted(each.kind for each in done) == sorted(fault.kind for fault in faults)
    assert not [each for each in done if each.message == "no such process"]
    # It was no easy run: every check had something to check.
    counts = verdict.counts
    assert counts["writes acknowledged"] > 50
    assert counts["writes unknown"] > 0
    assert counts["matches answered"] > 100
    assert counts["indexes looked at"] > 10
    assert counts["checked for staleness"] > 10
    assert counts["impressions"] > 100

    Report.of(SEED, SECONDS / 60, faults, history, verdict).write(tmp_path)
    report = json.loads((tmp_path / "report.json").read_text())
    assert (report["faults"], report["violations"]) == (len(faults), 0)
    page = (tmp_path / "report.md").read_text()
    assert "0 violations" in page
    assert "| `worker.kill` | 1 | kill -9 of a worker |" in page
