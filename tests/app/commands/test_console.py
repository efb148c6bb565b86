"""`copse console`, and the console beside a service."""

import re
import signal
import subprocess
from pathlib import Path

import httpx2
import pytest

from tests.app.answers import eventually
from tests.app.serving import COPSE, serving


def is_up(url: str) -> bool:
    try:
        return httpx2.get(f"{url}healthz").text == "ok"
    except httpx2.TransportError:
        return False


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL])
def test_it_starts_with_the_service_and_never_outlives_it(
    tmp_path: Path, ending: signal.Signals
) -> None:
    url = f"sqlite:///{tmp_path / 'copse.sqlite3'}"
    with serving("--development", "--console", lines=4, COPSE_DATABASE_URL=url) as served:
        found = re.search(r"console:\s+(http://127\.0\.0\.1:\d+/)", "".join(served.printed))
        assert found, served.printed
        eventually(lambda: is_up(found[1]))
        key = (tmp_path / "copse-development.key").read_text().strip()
        answer = httpx2.post(f"{found[1]}sign-in", data={"key": key})
        assert answer.headers["location"] == "/campaigns"
        served.process.send_signal(ending)
        served.process.wait(20)
        eventually(lambda: not is_up(found[1]))


def test_alone_it_says_where_it_is_and_ends_at_a_signal() -> None:
    command = [str(COPSE), "console", "--port", "0", "--api-url", "http://127.0.0.1:9"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process.stdout:
        found = re.search(r"http://127\.0\.0\.1:\d+/", process.stdout.readline())
        assert found
        eventually(lambda: is_up(found[0]))
        process.terminate()
        assert process.wait(10) in (0, -signal.SIGTERM)


def test_a_port_that_is_taken_is_told(
    tmp_path: Path,
) -> None:
    url = f"sqlite:///{tmp_path / 'copse.sqlite3'}"
    with serving("--development", "--console", lines=4, COPSE_DATABASE_URL=url) as served:
        found = re.search(r"console:\s+http://127\.0\.0\.1:(\d+)/", "".join(served.printed))
        assert found
        done = subprocess.run(
            [COPSE, "console", "--port", found[1]], capture_output=True, text=True, check=False
        )
        assert done.returncode == 1
        assert "choose another port with --port or COPSE_CONSOLE_PORT" in done.stderr
