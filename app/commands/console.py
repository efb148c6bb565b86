"""`copse console`: the web console, a process of its own that knows only the HTTP API."""

import argparse
import os
import subprocess
import sys
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

from app.server.uvicorn import CannotListen, listen, url_of
from app.settings import Settings, variable

NEEDED = ("console", "httpx2", "jinja2")


def add_to(commands: Any) -> None:
    parser = commands.add_parser("console", help="serve the web console")
    default = variable("console_port")
    parser.add_argument("--port", type=int, help=f"port, or 0 for a free one (default: {default})")
    parser.add_argument(
        "--api-url", help=f"where the API is (default: {variable('console_api_url')})"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace, settings: Settings) -> int:
    if missing := missing_package():
        print(f"copse: the console needs {missing}: pip install 'copse[console]'", file=sys.stderr)
        return 1
    port = settings.console_port if options.port is None else options.port
    api_url = options.api_url or settings.console_api_url or f"http://127.0.0.1:{settings.port}"
    arguments = _arguments(settings, api_url)
    arguments += ["--host", settings.console_host, "--port", str(port)]
    os.execv(sys.executable, arguments)


def missing_package() -> str:
    """The first package of the extra that is not installed; empty if all are."""
    return next((name for name in NEEDED if find_spec(name) is None), "")


class ConsoleBeside:
    """A console beside a service. It listens at once, starts with the service, and ends when this
    process does, however that ends: it notices that its standard input is closed."""

    def __init__(self, settings: Settings, port: int) -> None:
        """On this port, or on any other if it is taken."""
        try:
            self._listener = listen(settings.console_host, port)
        except CannotListen:
            self._listener = listen(settings.console_host, 0)
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return url_of(self._listener) + self._settings.console_root_path + "/"

    def start(self, api_url: str) -> None:
        """Start it for the API at this address."""
        fd = self._listener.fileno()
        self._process = subprocess.Popen(
            [*_arguments(self._settings, api_url), "--fd", str(fd)],
            stdin=subprocess.PIPE,
            pass_fds=[fd],
        )
        self._listener.close()

    def end(self) -> None:
        """End it."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(5)


def _arguments(settings: Settings, api_url: str) -> list[str]:
    return [
        *(sys.executable, "-m", "console", "--api-url", api_url),
        *("--root-path", settings.console_root_path),
        *("--session-minutes", str(settings.console_session_minutes)),
    ]
