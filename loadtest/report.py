"""The report of a run: a folder with a page, a summary and the figures for programs."""

import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from loadtest.figures import Figures
from loadtest.page import page
from loadtest.summary import summary

PAGE, SUMMARY, FIGURES = "report.html", "summary.md", "figures.json"


def write(figures: Figures) -> Path:
    """Write them; the folder, which is named after the scenario and the moment."""
    began = datetime.fromtimestamp(figures.begun, UTC).strftime("%Y%m%d-%H%M%S")
    folder = figures.plan.reports / f"{figures.plan.scenario_name}-{began}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / PAGE).write_text(page(figures))
    (folder / SUMMARY).write_text(summary(figures))
    (folder / FIGURES).write_text(json.dumps(for_programs(figures), indent=2, default=str) + "\n")
    return folder


def for_programs(figures: Figures) -> dict[str, Any]:
    """Plain data."""
    return {
        "plan": asdict(figures.plan),
        "machine": figures.machine,
        "passed": not figures.problems,
        "problems": figures.problems,
        "rows": [asdict(row) for row in figures.rows],
        "wrk_per_second": figures.wrk_rate,
        "locust_is_the_bottleneck": figures.locust_is_the_bottleneck,
        "locust_cores": figures.locust_cores,
        "locust_wanted": figures.locust_wanted,
        "server_cores": figures.server_cores,
        "server_cpu_us": figures.server_cpu_us,
        "server_memory_bytes": figures.memory,
        "lag_seconds_max": figures.lag_seconds,
        "lag_revs_max": figures.lag_revs,
        "answers_compared": figures.checked.compared,
        "answers_wrong": len(figures.checked.wrong),
        "digest": figures.digest,
        "errors": figures.errors,
        "notes": figures.notes,
        "seconds": [asdict(second) for second in figures.seconds],
        "looks": [{**asdict(look), "at": at} for at, look in figures.looks],
    }
