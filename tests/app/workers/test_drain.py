"""A worker that ends finishes what clients have sent, and what they are about to send."""

import os
import signal
import threading
import time
from collections import Counter
from functools import partial

import httpx2 as httpx

from testkit.client import Client, Lost
from tests.app.answers import eventually
from tests.app.serving import serving
from tests.app.workers.test_supervisor import client_of, workers_of

CLIENTS = 12
EVERY = 0.03
BODY: dict[str, object] = {"attributes": {}}


class KeptAlive(threading.Thread):
    """Sends a match every few milliseconds, on one connection as long as the server keeps it."""

    def __init__(
        self, port: int, token: str, ended: threading.Event, headers: dict[str, str]
    ) -> None:
        super().__init__()
        self.outcomes: Counter[object] = Counter()
        self._client = Client(port, token)
        self._ended = ended
        self._headers = headers

    def run(self) -> None:
        with self._client:
            while not self._ended.wait(EVERY):
                try:
                    answer = self._client.send("POST", "/v1/match", BODY, **self._headers)
                    self.outcomes[answer.status] += 1
                except Lost as lost:
                    self.outcomes[str(lost)] += 1


def is_replaced(client: httpx.Client, pid: int) -> bool:
    now = set(workers_of(client))
    return len(now) == 2 and pid not in now


def test_no_request_is_lost_while_one_worker_after_the_other_ends(
    url: str, tokens: dict[str, str]
) -> None:
    ended = threading.Event()
    with (
        serving(COPSE_DATABASE_URL=url, COPSE_WORKERS="2") as served,
        client_of(served, tokens["all"]) as client,
    ):
        paths: list[dict[str, str]] = [{}, {"X_Normal_Path": "1"}]
        clients = [
            KeptAlive(served.port, tokens["match"], ended, headers)
            for headers in paths * (CLIENTS // 2)
        ]
        for each in clients:
            each.start()
        try:
            first = set(workers_of(client))
            assert len(first) == 2
            for pid in first:
                os.kill(pid, signal.SIGTERM)
                eventually(partial(is_replaced, client, pid), within=40)
        finally:
            ended.set()
            for each in clients:
                each.join()
    outcomes = sum((each.outcomes for each in clients), Counter[object]())
    assert set(outcomes) == {200}, outcomes


def test_the_end_does_not_wait_for_idle_connections(url: str, tokens: dict[str, str]) -> None:
    with serving(COPSE_DATABASE_URL=url) as served, Client(served.port, tokens["all"]) as client:
        assert client.send("GET", "/healthz/live").status == 200
        began = time.monotonic()
        served.process.send_signal(signal.SIGTERM)
        served.process.wait(20)
        assert time.monotonic() - began < 8, "the drain lasts 10 s"
