"""The command `copse`, and the real server that it starts."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from app.cli import main
from app.settings import Settings, variable

COPSE = Path(sys.executable).parent / "copse"


@contextmanager
def serving(**environment: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """`copse serve` on a free port: its address, and the process."""
    process = subprocess.Popen(
        [COPSE, "serve", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | environment,
    )
    assert process.stdout is not None
    try:
        first = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+", first)
        assert found, first + process.stdout.read()
        yield found[0], process
    finally:
        process.kill()
        process.wait(10)
        process.stdout.close()


def test_a_served_copse_answers_and_stops_on_ctrl_c() -> None:
    with serving(COPSE_MAX_PREDICATES="1") as (url, process):
        assert process.stdout is not None
        assert process.stdout.readline().strip().endswith(f"{url}/docs")
        assert "engine:" in process.stdout.readline()

        assert httpx2.get(f"{url}/healthz/live").json() == {"status": "live"}
        assert httpx2.get(f"{url}/healthz/ready").json()["status"] == "ready"
        assert "swagger-ui" in httpx2.get(f"{url}/", follow_redirects=True).text

        body = {"text": "age > 1 or age < 0", "attributes": [{"name": "age", "type": "int"}]}
        answer = httpx2.post(f"{url}/v1/expressions/validate", json=body)
        assert answer.json()["errors"][0]["code"] == "limit.predicates"

        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0
        assert process.stdout.read() == ""


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
    assert main(["settings"]) == 0
    told = capsys.readouterr().out
    for name, field in Settings.model_fields.items():
        assert f"{variable(name)}=" in told
        assert field.description
        assert field.description in told
    assert "COPSE_PORT=9000\n" in told
    assert "(default: 8080)" in told


def test_a_wrong_setting_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COPSE_PORT", "http")
    assert main(["settings"]) == 2
    assert "COPSE_PORT='http'" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["dance"], ["serve", "--port", "70000"]])
def test_a_wrong_command_line_exits_with_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exited:
        main(arguments)
    assert exited.value.code == 2
    assert "usage: copse" in capsys.readouterr().err
