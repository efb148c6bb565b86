"""`/healthz/…`."""

from pathlib import Path
from typing import cast

import pytest
from fastapi.testclient import TestClient

from app.main import create_app
from app.observability.engine import current_engine
from app.settings import Settings
from app.state import Loading
from app.workers.readiness import Readiness
from campaigns.feed.follower import Follower
from campaigns.feed.replica import ReplicaState
from migrations.run import upgrade
from tests.app.answers import eventually, ok, problem


def test_live_says_so(client: TestClient) -> None:
    assert ok(client.get("/healthz/live")) == {"status": "live"}


@pytest.mark.parametrize("path", ["/healthz/live", "/healthz/ready"])
def test_a_prober_may_ask_for_the_head_alone(client: TestClient, path: str) -> None:
    answer = client.head(path)
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-type"] == "application/json"


def test_ready_names_the_engine_and_the_place_of_the_index(client: TestClient) -> None:
    answer = ok(client.get("/healthz/ready"))
    assert answer["status"] == "ready"
    assert answer["engine"] == current_engine().name
    assert (answer["core_version"] is None) == (answer["engine"] == "reference")
    assert answer["epoch"]
    assert answer["rev"] > 0
    assert answer["poisoned"] == 0
    eventually(lambda: client.get("/healthz/ready").json()["stale_seconds"] == 0)


def test_it_is_not_ready_before_the_index_is_loaded_and_then_it_is(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'copse.sqlite3'}"  # which is not there
    with TestClient(create_app(Settings(database_url=url))) as client:
        assert client.get("/healthz/live").status_code == 200
        answer = client.get("/healthz/ready")
        assert problem(answer, 503)["errors"][0]["code"] == "index.loading"
        assert answer.headers["retry-after"] == "1"
        # Without the keys nobody can be let in, whoever it is.
        problem(client.get("/v1/campaigns"), 503)

        upgrade(url)
        eventually(lambda: client.get("/healthz/ready").status_code == 200)


def test_it_stays_ready_when_the_database_goes_away_and_says_how_stale_it_is(
    client: TestClient, tmp_path: Path
) -> None:
    eventually(lambda: client.get("/healthz/ready").json()["stale_seconds"] == 0)
    (tmp_path / "copse.sqlite3").rename(tmp_path / "elsewhere")
    eventually(lambda: client.get("/healthz/ready").json()["stale_seconds"] > 1)
    assert client.get("/healthz/ready").status_code == 200
    assert ok(client.get("/v1/index"))["workers"][0]["failing"] == ["log"]
    (tmp_path / "elsewhere").rename(tmp_path / "copse.sqlite3")
    eventually(lambda: client.get("/healthz/ready").json()["stale_seconds"] == 0)


class Replica:
    """What a replica knows of itself."""

    def __init__(self) -> None:
        self.current: object = None
        self.state = ReplicaState()
        self.failing: frozenset[str] = frozenset()
        self.lag = 0


def test_ready_needs_an_index_that_is_nearly_up_to_date_at_first() -> None:
    replica = Replica()
    readiness = Readiness(cast(Follower, replica), revs=10)
    assert not readiness.is_ready()
    replica.current = object()
    assert not readiness.is_ready()  # who knows what it lacks
    replica.state = ReplicaState(head_at=1.0)
    replica.lag = 11
    assert not readiness.is_ready()
    replica.lag = 10
    assert readiness.is_ready()
    replica.lag = 10**6
    assert readiness.is_ready()


def test_ready_does_not_wait_for_a_database_that_is_gone() -> None:
    replica = Replica()
    replica.failing = frozenset({"log"})
    readiness = Readiness(cast(Follower, replica), revs=10)
    assert not readiness.is_ready()
    replica.current = object()
    assert readiness.is_ready()


def test_a_long_load_is_told_of_now_and_then(caplog: pytest.LogCaptureFixture) -> None:
    loading = Loading(_due=0.0)
    with caplog.at_level("INFO"):
        for done in range(340_000, 1_000_001, 5_000):
            loading.update(done, 1_000_000)
    assert caplog.messages == ["loading 340,000 of 1,000,000 campaigns"]
    assert loading.progress == (1_000_000, 1_000_000)
