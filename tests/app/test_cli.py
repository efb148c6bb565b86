"""The command `copse`, and the real server that it starts."""

import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi.testclient import TestClient

from app.cli import main
from app.settings import Settings, variable
from tests.app.answers import activate, eventually, ok
from tests.app.api.test_statistics import BAD, keep
from tests.app.conftest import bearer
from tests.app.serving import COPSE, serving


@dataclass
class Done:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


Copse = Callable[..., Done]


@pytest.fixture
def copse(url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Copse:
    """Runs a command in this process, on the database of the test."""
    monkeypatch.setenv("COPSE_DATABASE_URL", url)

    def run(*arguments: str, stdin: str = "") -> Done:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        capsys.readouterr()
        code = main(arguments)
        return Done(code, *capsys.readouterr())

    return run


def test_a_served_copse_answers_and_stops_on_ctrl_c(url: str, tokens: dict[str, str]) -> None:
    with serving(COPSE_MAX_PREDICATES="1", COPSE_DATABASE_URL=url) as served:
        assert served.printed[1].strip().endswith(f"{served.url}/docs")
        assert "engine:" in served.printed[2]

        assert httpx2.get(f"{served.url}/healthz/live").json() == {"status": "live"}
        eventually(lambda: httpx2.get(f"{served.url}/healthz/ready").status_code == 200)
        assert "swagger-ui" in httpx2.get(f"{served.url}/", follow_redirects=True).text

        body = {"text": "age > 1 or age < 0", "attributes": [{"name": "age", "type": "int"}]}
        route = f"{served.url}/v1/expressions/validate"
        answer = httpx2.post(route, json=body, headers=bearer(tokens["all"]))
        assert answer.json()["errors"][0]["code"] == "limit.predicates"

        served.process.send_signal(signal.SIGINT)
        assert served.process.wait(10) == 0
        assert served.process.stdout is not None
        assert served.process.stdout.read() == ""


def test_in_development_the_tables_and_a_key_are_made_first(tmp_path: Path) -> None:
    environment = {"COPSE_DATABASE_URL": f"sqlite:///{tmp_path / 'copse.sqlite3'}"}
    key = tmp_path / "copse-development.key"
    with serving("--development", lines=6, **environment) as served:
        assert str(key) in served.printed[3]
        shell = ["bash", "-c", served.printed[5]]
        pasted = subprocess.run(shell, capture_output=True, text=True, check=True)
        assert json.loads(pasted.stdout) == {"items": [], "next_cursor": None}


def test_a_taken_port_is_a_plain_message(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", "--port", str(port)]) == 1
    told = capsys.readouterr().err
    assert f"cannot listen on 127.0.0.1:{port}" in told
    assert "COPSE_PORT" in told


def test_settings_prints_every_setting_with_its_meaning(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COPSE_PORT", "9000")
    monkeypatch.setenv("COPSE_DATABASE_URL", "postgresql://me:hidden@host/copse")
    assert main(["settings"]) == 0
    told = capsys.readouterr().out
    for name, field in Settings.model_fields.items():
        assert f"{variable(name)}=" in told
        assert field.description
        assert field.description in told
    assert "COPSE_PORT=9000\n" in told
    assert "(default: 8080)" in told
    assert "COPSE_DATABASE_URL=postgresql://me:***@host/copse" in told
    assert "hidden" not in told


def test_a_wrong_setting_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COPSE_PORT", "http")
    monkeypatch.setenv("COPSE_DATABASE_URL", "mysql://me:hidden@host/copse")
    assert main(["settings"]) == 2
    told = capsys.readouterr().err
    assert "COPSE_PORT='http'" in told
    assert "COPSE_DATABASE_URL='mysql://me:***@host/copse'" in told


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["dance"],
        ["serve", "--port", "70000"],
        ["key"],
        ["key", "create", "x"],
        ["key", "create", "x", "--scope", "everything"],
        ["key", "create", "x", "--scope", "match", "--expires", "soon"],
        ["key", "create", "x", "--scope", "match", "--expires", "2030-01-01T00:00:00"],
        ["key", "revoke", "x"],
        ["feed", "dance"],
    ],
)
def test_a_wrong_command_line_exits_with_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exited:
        main(arguments)
    assert exited.value.code == 2
    assert "usage: copse" in capsys.readouterr().err


def test_a_database_without_tables_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COPSE_DATABASE_URL", f"sqlite:///{tmp_path / 'copse.sqlite3'}")
    assert main(["key", "list"]) == 1
    assert "copse migrate" in capsys.readouterr().err
    assert main(["migrate"]) == 0
    assert main(["migrate"]) == 0
    assert "is at revision" in capsys.readouterr().out
    assert main(["key", "list"]) == 0


def test_keys_are_made_listed_and_revoked(copse: Copse) -> None:
    creating = ["key", "create", "ad server", "--scope", "match", "--scope", "campaigns:read"]
    token = copse(*creating, "--expires", "90d").out.strip()
    prefix = token.split("_")[1]

    def row() -> str:
        (found,) = [line for line in copse("key", "list").out.splitlines() if prefix in line]
        return found

    assert re.search(r"ad server +match,campaigns:read +- +\S+Z +expires \S+Z$", row())
    assert token.split("_", 2)[2] not in row()
    id = row().split()[0]
    assert copse("key", "revoke", id).code == 0
    assert copse("key", "revoke", id).code == 0
    assert re.search(r"revoked \S+Z$", row())
    assert "no key 999" in copse("key", "revoke", "999").err
    limited = copse(
        "key", "create", "x", "--scope", "match", "--rate", "500", "--max-body", "65536"
    )
    prefix = limited.out.split("_")[1]
    assert re.search(r"x +match +500/s, 65536 bytes +\S+Z$", row())
    wrong = copse("key", "create", " ", "--scope", "match")
    assert (wrong.code, wrong.err) == (1, "copse: name: this must not be blank\n")


def test_a_file_is_imported_with_its_failures_told(copse: Copse, tmp_path: Path) -> None:
    copse("demo")
    file, failures = tmp_path / "campaigns.ndjson", tmp_path / "failures.ndjson"
    rows = [{"external_id": f"x{n}", "advertiser_id": 1, "name": f"X{n}"} for n in range(1200)]
    rows[700]["targeting"] = "contry = 'US'"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows) + "nope\n")
    done = copse("import", str(file), "--failures", str(failures))
    assert (done.code, done.out) == (1, "1,201 lines: 1,199 created, 2 failed\n")
    assert "line 701: /targeting there is no attribute contry" in done.err
    assert "line 1201: " in done.err
    assert [json.loads(line)["line"] for line in failures.read_text().splitlines()] == [701, 1201]

    again = copse("import", "-", stdin=json.dumps(rows[0]))
    assert (again.code, again.out) == (0, "1 lines: 1 unchanged\n")
    nothing = copse("import", str(tmp_path / "nowhere"))
    assert nothing.code == 2
    assert "No such file" in nothing.err


def test_an_import_with_many_failures_tells_of_the_first(copse: Copse) -> None:
    done = copse("import", "-", stdin="nope\n" * 30)
    assert done.out == "30 lines: 30 failed\n"
    assert done.err.count("line ") == 20
    assert "--failures" in done.err


def test_the_demo_shows_something_that_matches_and_can_be_repeated(copse: Copse) -> None:
    told = copse("demo")
    assert "Phones in North America" in told.out
    assert "House ads" in told.out
    assert "Desktops" not in told.out
    assert copse("demo") == told


def test_the_demo_agrees_with_a_match(copse: Copse, client: TestClient) -> None:
    """Also where other campaigns match the request, and where one of its own has changed."""
    copse("demo")
    other, _ = activate(client, targeting="age = 30", priority=5, bid_micros=1_000_000)
    mine = client.get("/v1/campaigns", params={"external_id": "demo-house"}).json()["items"][0]
    rev = ok(client.post(f"/v1/campaigns/{mine['id']}/archive"))["rev"]
    told = copse("demo").out
    (sent,) = re.findall(r"^POST /v1/match (.*)$", told, re.MULTILINE)
    answer = ok(client.post("/v1/match", json=json.loads(sent) | {"min_rev": rev}))
    ids = [match["campaign_id"] for match in answer["matches"]]
    assert other in ids
    assert list(map(int, re.findall(r"campaign (\d+): ", told))) == ids
    assert "demo-house stays as it is" in told


def test_the_feed_is_looked_after(copse: Copse, client: TestClient, tokens: dict[str, str]) -> None:
    def worker() -> dict[str, Any]:
        found: dict[str, Any] = client.get("/v1/index").json()["workers"][0]
        return found

    copse("demo")
    eventually(lambda: worker()["campaigns"] == 4)
    before = worker()
    told = copse("feed", "digest").out.split()
    shown = [str(before[name]) for name in ("epoch", "rev", "campaigns", "digest")]
    assert told[1::2] == shown
    begins = copse("feed", "new-epoch").out
    eventually(lambda: bool(worker()["epoch"] != before["epoch"]))
    assert worker()["epoch"] in begins
    assert copse("feed", "prune").out == "0 changes removed\n"
    assert copse("feed", "prune", "--keep", "1").out == f"{before['rev'] - 1} changes removed\n"
    assert worker()["digest"] == before["digest"]


def test_an_epoch_and_its_beginning_are_in_the_audit_log(copse: Copse, client: TestClient) -> None:
    copse("feed", "new-epoch")
    (entry,) = client.get("/v1/audit", params={"kind": "feed"}).json()["items"]
    assert (entry["actor"], entry["action"]) == ("cli", "new-epoch")


def test_statistics_are_listed_activated_and_rolled_back(copse: Copse, url: str) -> None:
    ids = [keep(url, 2, times=100), keep(url, 4, BAD, times=100)]
    listed = copse("statistics", "list").out.splitlines()
    assert [line.split()[:2] for line in listed[1:]] == [
        [str(ids[1]), "2026-11-16"],
        [str(ids[0]), "2026-11-16"],
    ]
    assert "failed" in listed[1]
    assert "country 4." in listed[1]
    refused = copse("statistics", "activate", str(ids[1]))
    assert (refused.code, refused.out) == (1, "")
    assert "age has drifted" in refused.err
    assert copse("statistics", "activate", str(ids[0])).code == 0
    forced = copse("statistics", "activate", str(ids[1]), "--force")
    assert f"statistics {ids[1]} are active" in forced.out
    assert copse("statistics", "list").out.splitlines()[1].endswith("active")
    assert f"statistics {ids[0]} are active" in copse("statistics", "roll-back").out
    assert "no statistics are active" in copse("statistics", "roll-back").out
    assert copse("statistics", "roll-back").code == 1


def test_a_reader_that_goes_away_is_no_traceback() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as gone:
        ended = subprocess.run(
            [COPSE, "settings"], stdout=gone, stderr=subprocess.PIPE, check=False
        )
    assert ended.stderr == b""
