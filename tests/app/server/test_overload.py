"""More requests than a worker can answer: it answers as many as it can, and refuses the rest.

The matches of this service take 4 ms, so that a small machine can offer it several times as much as
it can answer. The bounds here are those that hold on a busy machine; `python -m bench overload` has
the exact ones.
"""

import statistics
import time
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from testkit.child import Child, Message
from testkit.sampler import Sampler
from testkit.service import Server, started
from tests.app.conftest import Template

BODY = orjson.dumps({"attributes": {}})
MATCH_MS = 4
PATIENCE_MS = 200


@pytest.fixture(scope="module")
def server(template: Template) -> Iterator[Server]:
    arguments = ["-m", "testkit.slow_service", str(MATCH_MS), "--port", "0"]
    variables = {"COPSE_DATABASE_URL": f"sqlite:///{template.path}"}
    with started("slow service", arguments, variables) as server:
        yield server


def seconds_of(server: Server, path: str, token: str = "") -> float:
    began = time.perf_counter()
    server.get(path, token)
    return time.perf_counter() - began


@pytest.mark.parametrize("kind", ["fresh", "kept"])
def test_what_cannot_be_answered_in_time_is_refused(
    server: Server, template: Template, tmp_path: Path, kind: str
) -> None:
    bodies = tmp_path / "bodies"
    bodies.write_bytes(BODY)
    token, all_scopes = template.tokens["match"], template.tokens["all"]

    def driven(*phases: str) -> Message:
        arguments = (server.port, bodies, token, PATIENCE_MS, kind, *phases)
        with Child("testkit.open_loop", *arguments) as clients:
            return clients.hear()

    def capacity() -> float:
        goodput: float = driven("0:1")["phases"][0]["goodput"]
        return goodput

    most = capacity()
    others = [
        Sampler(lambda: seconds_of(server, "/healthz/live"), 0.1),
        Sampler(lambda: seconds_of(server, "/v1/campaigns", all_scopes), 0.1),
    ]
    for other in others:
        other.start()
    phases = [f"{3 * most}:1", f"{3 * most}:2.5"]
    if kind == "fresh":
        phases += [f"{0.3 * most}:2", f"{0.3 * most}:1"]
    result = driven(*phases)
    for other in others:
        other.stop()
        other.join()
    overload, after = result["phases"][1], result["phases"][-1]
    most = min(most, capacity())  # the machine may have become busier meanwhile
    told: Message = {"capacity": most, **result}
    assert overload["goodput"] >= 0.7 * most, told
    assert overload["lost"] == 0, told
    assert overload["gave_up"] <= 0.05 * overload["requests"], told
    assert kind == "kept" or after["answered"] == after["requests"], told
    for other in others:
        assert other.missed == 0
        assert statistics.median(other.samples) < 0.5, told
