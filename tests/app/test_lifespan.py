"""What the service does from its start to its end: it prunes, and saves its index."""

from pathlib import Path
from typing import Any

import pytest

from app import lifespan
from app.settings import Settings
from campaigns.log import service as log
from tests.app.answers import activate, eventually, ok
from tests.app.conftest import POLL_SECONDS, client_of, on_store


def test_old_changes_and_answers_are_pruned(url: str, tokens: dict[str, str]) -> None:
    settings = Settings(
        database_url=url, prune_minutes=0.001, keep_changes=1, keep_answers_hours=0.00001
    )
    with client_of(settings, tokens["all"]) as client:

        def create() -> Any:
            headers = {"Idempotency-Key": "once"}
            return client.post("/v1/advertisers", json={"name": "Shop"}, headers=headers)

        first = ok(create(), 201)
        eventually(lambda: bool(create().json()["id"] != first["id"]))

        def pruned_rev() -> int:
            return on_store(url, log.read_head).pruned_rev

        eventually(lambda: pruned_rev() > 0)


def test_the_index_is_kept_from_one_start_to_the_next(
    url: str, tmp_path: Path, tokens: dict[str, str]
) -> None:
    settings = Settings(
        database_url=url, index_directory=tmp_path / "index", feed_poll_seconds=POLL_SECONDS
    )
    with client_of(settings, tokens["all"]) as client:
        activate(client)
        eventually(lambda: client.get("/v1/index").json()["workers"][0]["campaigns"] == 1)
        before = ok(client.get("/v1/index"))["workers"][0]
    assert (tmp_path / "index" / "worker-0" / "index.json").exists()
    with client_of(settings, tokens["all"]) as client:
        after = ok(client.get("/v1/index"))["workers"][0]
        for name in ("epoch", "rev", "digest", "campaigns"):
            assert after[name] == before[name]


def test_a_directory_that_cannot_be_written_stops_nothing(
    url: str, tmp_path: Path, tokens: dict[str, str]
) -> None:
    (tmp_path / "file").write_text("in the way")
    settings = Settings(database_url=url, index_directory=tmp_path / "file")
    with client_of(settings, tokens["all"]) as client:
        eventually(lambda: client.get("/healthz/ready").status_code == 200)


async def test_the_start_waits_until_the_service_is_ready(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lifespan, "START_SECONDS", 60)

    async with lifespan.running(Settings(database_url=url, feed_poll_seconds=1)) as state:
        assert state["standby"].is_known
