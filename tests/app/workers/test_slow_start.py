"""Workers that load for longer than a start waits: whoever accepts a match can answer it."""

import os
import signal
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from testkit.client import Client
from tests.app.answers import eventually
from tests.app.serving import Served, serving
from tests.app.workers.test_drain import BODY
from tests.app.workers.test_supervisor import client_of, workers_of

SLOW = """
import asyncio, sys

def slow_down(seconds):
    from app import lifespan
    from campaigns.feed.follower import Follower

    load = Follower._load

    async def slow(self):
        if self.current is None:
            await asyncio.sleep(seconds)
        return await load(self)

    lifespan.START_SECONDS = 0.1
    Follower._load = slow

for number, seconds in enumerate({seconds}):
    if f"--number={{number}}" in sys.orig_argv:
        slow_down(seconds)
"""
"""A module that Python imports by itself, before the worker's own."""


class Matches(threading.Thread):
    """Sends matches one after the other, on new connections."""

    def __init__(self, port: int, token: str) -> None:
        super().__init__()
        self.outcomes: Counter[object] = Counter()
        self._place = port, token
        self._ended = threading.Event()

    def run(self) -> None:
        while not self._ended.wait(0.01):
            with Client(*self._place) as client:
                answer = client.send("POST", "/v1/match", BODY)
            self.outcomes[answer.status, answer.body[:200] if answer.status != 200 else b""] += 1

    def end(self) -> Counter[object]:
        self._ended.set()
        self.join()
        return self.outcomes


def is_ready(served: Served) -> bool:
    with Client(served.port) as client:
        return client.send("GET", "/healthz/ready").status == 200


@pytest.fixture
def slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """Worker 0 loads for a second, worker 1 for three."""
    (tmp_path / "sitecustomize.py").write_text(SLOW.format(seconds=[1.0, 3.0]))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("COPSE_DATABASE_URL", url)
    monkeypatch.setenv("COPSE_WORKERS", "2")


@pytest.mark.usefixtures("slow")
def test_no_match_meets_a_worker_without_an_index(tokens: dict[str, str]) -> None:
    with serving() as served, client_of(served, tokens["all"]) as client:
        eventually(lambda: is_ready(served), within=30)
        matches = Matches(served.port, tokens["match"])
        matches.start()
        eventually(lambda: len(loaded_of(served, tokens["all"])) == 2, within=30)
        first = loaded_of(served, tokens["all"])

        # Both are told to end. One goes on, since its successor has to load first.
        for pid in first:
            os.kill(pid, signal.SIGTERM)
        eventually(lambda: len(loaded_of(served, tokens["all"]) - first) == 2, within=60)
        assert matches.end().keys() == {(200, b"")}

        # The whole service ends at once, although a worker has no index.
        victim = next(iter(workers_of(client)))
        os.kill(victim, signal.SIGKILL)
        began = time.monotonic()
        served.process.send_signal(signal.SIGTERM)
        assert served.process.wait(20) == 0
        assert time.monotonic() - began < 5


def loaded_of(served: Served, token: str) -> set[int]:
    """The workers that have an index."""
    with client_of(served, token) as client:
        return {pid for pid, each in workers_of(client).items() if each["rev"] is not None}
