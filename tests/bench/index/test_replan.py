"""`python -m bench replan`: it runs, and prints a line for each phase."""

import subprocess
import sys


def test_every_phase_has_its_line() -> None:
    command = [sys.executable, "-m", "bench", "replan", "-n", "200", "--seconds", "0.1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    rows = [line.strip("| ").split(" | ") for line in done.stdout.splitlines()[4:]]
    assert [row[0] for row in rows] == [
        "nothing else",
        "statistics come",
        "nothing else",
        "statistics go",
    ]
    assert all(float(cell) >= 0 for row in rows for cell in row[1:])
