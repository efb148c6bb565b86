"""`copse serve`: serve over HTTP; with --development, migrate and make a key first."""

import argparse
import os
import shlex
import socket
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from app.commands.development_key import DevelopmentKey
from app.commands.store import with_store
from app.observability import logging as logs
from app.observability.engine import current_engine
from app.observability.metrics.collect import count_replaced
from app.observability.tracing import TracingUnavailable, load_tracing
from app.server.uvicorn import CannotListen, listen, url_of
from app.server.uvicorn import serve as serve_on
from app.settings import Settings, variable
from app.workers.supervisor import Supervisor
from campaigns.errors import DatabaseUnavailable
from campaigns.log.service import read_head
from migrations.run import upgrade


def add_to(commands: Any) -> None:
    parser = commands.add_parser("serve", help="serve over HTTP")
    parser.add_argument("--host", help=f"address to listen on (default: {variable('host')})")
    parser.add_argument(
        "--port", type=port, help=f"port, or 0 for a free one (default: {variable('port')})"
    )
    parser.add_argument(
        "--development",
        action="store_true",
        help="first migrate the database and make a key for development",
    )
    parser.set_defaults(run=run)


def port(text: str) -> int:
    number = int(text)
    if not 0 <= number <= 65535:
        raise ValueError
    return number


def run(options: argparse.Namespace, settings: Settings) -> int:
    wanted = settings.port if options.port is None else options.port
    try:
        listener = listen(options.host or settings.host, wanted)
    except CannotListen as error:
        print(
            f"copse: {error}\nchoose another port with --port or {variable('port')}",
            file=sys.stderr,
        )
        return 1
    if settings.traces:
        try:
            load_tracing()
        except TracingUnavailable as error:
            print(f"copse: {error}", file=sys.stderr)
            return 1
    several = settings.workers > 1
    logs.configure(settings.log_level, settings.log_format, None if several else 0)
    with listener:
        key = None
        if options.development:
            key = _develop(settings)
        else:
            _check(settings)
        welcome = _welcome(key)
        if several:
            return _serve_with_workers(settings, listener, welcome)
        serve_on(settings, listener, welcome)
        return 0


def _serve_with_workers(
    settings: Settings, listener: socket.socket, welcome: Callable[[str], None]
) -> int:
    with tempfile.TemporaryDirectory(prefix="copse-") as made:
        directory = Path(os.environ.setdefault(variable("run_directory"), made))
        supervisor = Supervisor(
            listener,
            settings.workers,
            settings.drain_seconds,
            lambda: welcome(url_of(listener)),
            settings.hung_seconds,
            lambda _, reason: count_replaced(directory, reason),
        )
        return supervisor.run()


def _check(settings: Settings) -> None:
    """Fail now if tables are missing. A database that is down may come back."""
    with suppress(DatabaseUnavailable):
        with_store(settings, read_head)


def _develop(settings: Settings) -> DevelopmentKey:
    upgrade(settings.database_url)
    key = DevelopmentKey.beside(settings.database_url)
    with_store(settings, key.ensure)
    return key


def _welcome(key: DevelopmentKey | None) -> Callable[[str], None]:
    def started(url: str) -> None:
        print(f"Copse {version('copse')} is at {url}")
        print(f"  API documentation:  {url}/docs")
        print(f"  engine:  {current_engine()}")
        if key is not None:
            path = shlex.quote(str(key.path))
            print(f"  the key for development is in {key.path}:\n")
            print(f'curl -s {url}/v1/campaigns -H "Authorization: Bearer $(cat {path})"\n')
        sys.stdout.flush()

    return started
