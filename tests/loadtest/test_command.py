"""`python -m loadtest` at a small size, with real servers, workers and Locust."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def test_a_small_run_of_everything_at_once(tmp_path: Path) -> None:
    sizes = ("--campaigns", "300", "--users", "6", "--seconds", "3", "--wrk-seconds", "1")
    done = subprocess.run(
        [sys.executable, "-m", "loadtest", *sizes, "--reports", str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Load test: mixed: passed" in done.stdout
    (folder,) = tmp_path.iterdir()
    figures = json.loads((folder / "figures.json").read_text())
    kinds = {row["kind"]: row for row in figures["rows"]}
    assert kinds["match"]["count"] > 30
    assert {"create", "activate"} <= kinds.keys()
    assert kinds["all"]["wrong"] == 0
    share = kinds["match"]["count"] / kinds["all"]["count"]
    assert share > 0.9  # 95% of a whole run; the first seconds are not counted
    assert figures["wrk_per_second"] > 0
    assert figures["answers_compared"] > 200  # 200 of them after the last write
    assert figures["answers_wrong"] == 0
    assert figures["server_cores"] > 0
    assert figures["server_memory_bytes"] > 50_000_000
    assert figures["lag_seconds_max"] is not None
    assert any("Statistics in the middle: version 1 activated" in note for note in figures["notes"])
    assert figures["change_bytes"]["stream"] > 0
    assert "/v1/match" in (folder / "locust.html").read_text()


def test_locust_without_a_key_says_what_to_do() -> None:
    environment = {name: value for name, value in os.environ.items() if "LOADTEST" not in name}
    done = subprocess.run(
        [sys.executable, "-m", "locust", "-f", "loadtest/locustfile.py", "--list"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment,
        timeout=120,
        check=False,
    )
    assert done.returncode != 0
    assert "copse key create" in done.stdout + done.stderr
