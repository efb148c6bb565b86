"""An ordinary mistake is one line on stderr that says what to do, and no traceback."""

import os
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli import main
from tests.app.serving import COPSE

NOBODY_LISTENS = "postgresql://me:hidden@127.0.0.1:1/copse"
NO_DIRECTORY = "sqlite:////dev/null/copse.sqlite3"


@pytest.mark.parametrize(
    ("command", "variables", "code", "said"),
    [
        ("migrate", {"DATABASE_URL": NOBODY_LISTENS}, 1, "me:***@127.0.0.1:1/copse"),
        ("key list", {"DATABASE_URL": NOBODY_LISTENS}, 1, "the database is unavailable"),
        ("migrate", {"DATABASE_URL": NO_DIRECTORY}, 1, "unable to open database file"),
        ("serve --port 0", {"DATABASE_URL": NO_DIRECTORY}, 1, "unable to open database file"),
        (
            "serve --port 0 --development",
            {"DATABASE_URL": NO_DIRECTORY},
            1,
            "unable to open database file",
        ),
        ("migrate", {"DATABASE_URL": f"sqlite:///{__file__}"}, 1, "file is not a database"),
        ("migrate", {"DATABASE_URL": "postgresql://me@host:port/x"}, 2, "expected postgresql://"),
        ("migrate", {"DATABASE_URL": "host=x password=hidden"}, 2, "password=***"),
        ("serve", {"REDIS_URL": "redis://host:99999/0"}, 2, "Port out of range"),
        ("serve", {"REDIS_URL": "host:6379"}, 2, "redis://"),
        ("serve", {"WORKRES": "2"}, 2, "did you mean COPSE_WORKERS?"),
        ("serve", {"NOTHING_LIKE_THAT": "2"}, 2, "`copse settings` lists them"),
        ("serve", {"INDEX_DIRECTORY": "/proc/here"}, 2, "COPSE_INDEX_DIRECTORY='/proc/here'"),
        ("serve", {"IMPRESSIONS_DIR": f"{__file__}/x"}, 2, "Not a directory"),
        ("serve", {"RUN_DIRECTORY": f"{__file__}/x"}, 2, "Not a directory"),
    ],
)
def test_a_mistake_is_one_line(
    command: str,
    variables: dict[str, str],
    code: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(f"COPSE_{name}", value)
    assert main(command.split()) == code
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith("copse: ")
    assert said in line
    assert "hidden" not in line


def test_a_read_only_database_is_refused_at_the_start(
    url: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    file = url.removeprefix("sqlite:///")
    monkeypatch.setenv("COPSE_DATABASE_URL", f"sqlite:///file:{file}?mode=ro&uri=true")
    for command in ("serve --port 0", "key create x --scope match"):
        assert main(command.split()) == 1
        (line,) = capfd.readouterr().err.splitlines()
        assert "attempt to write a readonly database" in line


def test_a_database_of_a_newer_version_is_said_to_be_one(
    url: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with sqlite3.connect(url.removeprefix("sqlite:///")) as newer:
        newer.execute("UPDATE alembic_version SET version_num = '9999'")
    newer.close()
    monkeypatch.setenv("COPSE_DATABASE_URL", url)
    assert main(["migrate"]) == 1
    (line,) = capfd.readouterr().err.splitlines()
    assert "newer version of Copse" in line


def test_variables_of_kubernetes_are_no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SERVICE_HOST", "SERVICE_PORT_HTTP", "PORT_8080_TCP_ADDR", "REDIS_SERVICE_HOST"):
        monkeypatch.setenv(f"COPSE_{name}", "10.0.0.1")
    monkeypatch.setenv("COPSE_REDIS_PORT", "tcp://10.0.0.1:6379")
    assert main(["settings"]) == 0


def test_the_real_command_ends_without_a_traceback(tmp_path: Path) -> None:
    """A port in use, and what a process prints when it ends; its files are not for everybody."""
    environment = {**os.environ, "COPSE_DATABASE_URL": f"sqlite:///{tmp_path}/copse.sqlite3"}
    migrated = subprocess.run([COPSE, "migrate"], env=environment, capture_output=True, check=True)
    assert migrated.stderr == b""
    assert (tmp_path / "copse.sqlite3").stat().st_mode & 0o777 == 0o640
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        serve = [str(COPSE), "serve", "--port", port]
        refused = subprocess.run(
            serve, env=environment, capture_output=True, text=True, check=False
        )
    assert refused.returncode == 1
    assert refused.stderr.count("\n") == 1
    assert f"cannot listen on 127.0.0.1:{port}" in refused.stderr


def test_a_health_check_with_a_wrong_port() -> None:
    command = [sys.executable, "-m", "app.commands.health_check"]
    environment = {**os.environ, "COPSE_PORT": "http"}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (2, "COPSE_PORT='http': expected a number\n")
