"""Several workers, as processes: they follow the same feed, are replaced, and end in order."""

import json
import os
import signal
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from tests.app.answers import activate, eventually, ok
from tests.app.conftest import bearer
from tests.app.serving import Served, serving


def workers_of(client: httpx.Client) -> dict[int, Any]:
    """The workers by process id."""
    try:
        told = client.get("/v1/index")
    except httpx.TransportError:
        return {}  # the connection was to the one that is gone
    return {each["pid"]: each for each in told.json()["workers"]} if told.is_success else {}


def client_of(served: Served, token: str) -> httpx.Client:
    return httpx.Client(base_url=served.url, headers=bearer(token), timeout=10)


def lines_of(served: Served) -> list[str]:
    """What it says, as it comes."""
    said: list[str] = []
    out = served.process.stdout
    assert out is not None

    def listen() -> None:
        with suppress(ValueError):  # the test is over, and the file closed
            said.extend(iter(out.readline, ""))

    threading.Thread(target=listen, daemon=True).start()
    return said


def rows_in(directory: Path) -> list[dict[str, Any]]:
    files = directory.glob("dt=*/hour=*/part-*.jsonl")
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


@pytest.fixture(autouse=True)
def _two_workers(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COPSE_DATABASE_URL", url)
    monkeypatch.setenv("COPSE_WORKERS", "2")
    monkeypatch.setenv("COPSE_FEED_POLL_SECONDS", "0.05")
    monkeypatch.setenv("COPSE_IMPRESSIONS_DIR", str(tmp_path / "impressions"))
    monkeypatch.setenv("COPSE_INDEX_DIRECTORY", str(tmp_path / "index"))


def test_workers_are_one_service(tokens: dict[str, str], tmp_path: Path) -> None:
    with serving() as served, client_of(served, tokens["all"]) as client:
        id, rev = activate(client, targeting="country = 'US'")
        eventually(lambda: [each["rev"] for each in workers_of(client).values()] == [rev, rev])
        first = workers_of(client)
        assert len({each["digest"] for each in first.values()}) == 1

        os.kill(next(iter(first)), signal.SIGKILL)
        eventually(
            lambda: (
                len(now := workers_of(client)) == 2
                and set(now) != set(first)
                and {each["rev"] for each in now.values()} == {rev}
            )
        )

        sent = {"attributes": {"country": "US", "e-mail": "a@b.example"}, "min_rev": rev}
        answers = []
        for _ in range(40):  # a connection each, so that both workers get some
            with client_of(served, tokens["match"]) as another:
                answers.append(ok(another.post("/v1/match", json=sent)))
        assert {answer["matches"][0]["campaign_id"] for answer in answers} == {id}
        counted = httpx.get(f"{served.url}/metrics").text
        assert 'copse_requests_total{route="match",status="200"} 40' in counted
        assert 'copse_workers_replaced_total{reason="ended"} 1' in counted

        served.process.send_signal(signal.SIGTERM)
        assert served.process.wait(20) == 0
    rows = rows_in(tmp_path / "impressions")
    assert len(rows) == 40
    assert all(row["attributes"] == {"country": "US"} and row["matches"] == [id] for row in rows)


def test_a_worker_that_hangs_is_killed_and_replaced(
    tokens: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COPSE_HUNG_SECONDS", "2")
    with serving() as served, client_of(served, tokens["all"]) as client:
        first = set(workers_of(client))
        assert len(first) == 2
        victim = min(first)
        os.kill(victim, signal.SIGSTOP)

        def is_replaced() -> bool:
            try:
                with client_of(served, tokens["all"]) as another:
                    another.timeout = httpx.Timeout(1)
                    now = set(workers_of(another))
                    told = another.get("/metrics").text
            except httpx.TransportError:
                return False  # the connection was to the one that hangs
            counted = 'copse_workers_replaced_total{reason="hung"}' in told
            return counted and len(now) == 2 and victim not in now

        eventually(is_replaced, within=40)


def test_a_worker_that_cannot_load_takes_no_matches_away(
    url: str, tokens: dict[str, str], tmp_path: Path
) -> None:
    file = Path(url.removeprefix("sqlite:///"))
    with serving() as served, client_of(served, tokens["all"]) as client:
        said = lines_of(served)
        eventually(lambda: len(workers_of(client)) == 2)
        first = set(workers_of(client))
        file.rename(tmp_path / "away")
        os.kill(min(first), signal.SIGKILL)
        statuses = set()

        def stands_by() -> bool:
            with suppress(httpx.TransportError), client_of(served, tokens["match"]) as another:
                statuses.add(another.post("/v1/match", json={"attributes": {}}).status_code)
            assert statuses <= {200}, "whoever has no index must not answer"
            return any("other workers serve" in line for line in said)

        eventually(stands_by, within=60)
        for _ in range(20):  # a connection each
            stands_by()
        (tmp_path / "away").rename(file)
        eventually(lambda: len(workers_of(client)) == 2 and set(workers_of(client)) != first)


def test_workers_end_with_their_parent(tokens: dict[str, str]) -> None:
    with serving() as served, client_of(served, tokens["all"]) as client:
        pids = list(workers_of(client))
        assert len(pids) == 2
        served.process.kill()
        served.process.wait(10)
        eventually(lambda: not any(_lives(pid) for pid in pids))


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
