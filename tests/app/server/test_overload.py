"""More requests than a worker can answer: it answers as many as it can, and refuses the rest.

The matches of this service take 4 ms, so that a small machine can offer it several times as much as
it can answer. The bounds here are those that hold on a busy machine; `python -m bench overload` has
the exact ones.
"""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from testkit.child import Child, Message
from testkit.client import Client
from testkit.service import Server, started
from tests.app.conftest import Template

BODY = orjson.dumps({"attributes": {}})
MATCH_MS = 4
CLIENTS = 4
PATIENCE_MS = 200


@pytest.fixture(scope="module")
def server(template: Template) -> Iterator[Server]:
    arguments = ["-m", "testkit.slow_service", str(MATCH_MS), "--port", "0"]
    variables = {"COPSE_DATABASE_URL": f"sqlite:///{template.path}"}
    with started("slow service", arguments, variables) as server:
        yield server


class Probe(threading.Thread):
    """Sends requests one after the other, each on a new connection, until it is stopped."""

    def __init__(self, server: Server, method: str, path: str, token: str, pause: float) -> None:
        super().__init__()
        self.took: list[float] = []
        self.statuses: set[int] = set()
        self._client = Client(server.port, token, timeout=60)
        self._request = (method, path, BODY if method == "POST" else None)
        self._pause = pause
        self._ended = threading.Event()

    def run(self) -> None:
        while not self._ended.is_set():
            began = time.perf_counter()
            self.statuses.add(self._client.send(*self._request).status)
            self.took.append(time.perf_counter() - began)
            self._client.close()
            self._ended.wait(self._pause)

    def end(self) -> None:
        self._ended.set()
        self.join()

    @property
    def median(self) -> float:
        return sorted(self.took)[len(self.took) // 2]


def capacity(server: Server, token: str) -> float:
    """Answers a second to clients that wait for them."""
    probes = [Probe(server, "POST", "/v1/match", token, 0) for _ in range(CLIENTS)]
    for probe in probes:
        probe.start()
    time.sleep(1.5)
    for probe in probes:
        probe.end()
        assert probe.statuses == {200}
    return sum(len(probe.took) for probe in probes) / 1.5


@pytest.mark.parametrize("kind", ["fresh", "kept"])
def test_what_cannot_be_answered_in_time_is_refused(
    server: Server, template: Template, tmp_path: Path, kind: str
) -> None:
    bodies = tmp_path / "bodies"
    bodies.write_bytes(BODY)
    most = capacity(server, template.tokens["match"])
    probes = [
        Probe(server, "GET", "/healthz/live", "", 0.05),
        Probe(server, "GET", "/v1/campaigns", template.tokens["all"], 0.05),
    ]
    phases = [f"{3 * most}:1", f"{3 * most}:2.5"]
    if kind == "fresh":
        phases += [f"{0.3 * most}:2", f"{0.3 * most}:1"]
    arguments = (server.port, bodies, template.tokens["match"], PATIENCE_MS, kind, *phases)
    with Child("testkit.open_loop", *arguments) as clients:
        for probe in probes:
            probe.start()
        result = clients.hear()
    for probe in probes:
        probe.end()
    overload, after = result["phases"][1], result["phases"][-1]
    told: Message = {"capacity": most, **result}
    assert overload["goodput"] >= 0.7 * most, told
    assert overload["lost"] == 0, told
    assert overload["gave_up"] <= 0.05 * overload["requests"], told
    assert kind == "kept" or after["answered"] == after["requests"], told
    for probe in probes:
        assert probe.statuses == {200}
        assert probe.median < 0.5, told
