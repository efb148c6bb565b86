"""The wall clock of a process steps, and nothing else does."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.faults.clock import Clock

SAY = """
import datetime, json, sys, threading, time
for _ in sys.stdin:
    begin = time.monotonic()
    threading.Event().wait(0.05)
    waited = time.monotonic() - begin
    print(json.dumps([time.time(), datetime.datetime.now().timestamp(), time.monotonic(), waited]))
    sys.stdout.flush()
"""


def test_a_clock_steps_forth_and_back(tmp_path: Path) -> None:
    clock = Clock(tmp_path)
    with subprocess.Popen(
        [sys.executable, "-c", SAY],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | clock.environment,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for off in (0, 7200, -90, 0):
            clock.step(off)
            process.stdin.write("\n")
            process.stdin.flush()
            wall, date, monotonic, waited = json.loads(process.stdout.readline())
            assert wall == pytest.approx(time.time() + off, abs=30)
            assert date == pytest.approx(wall, abs=30)
            assert monotonic == pytest.approx(time.monotonic(), abs=30)
            assert 0.05 <= waited < 30
        process.stdin.close()
