"""`copse serve`: serve over HTTP; with --development, migrate and make a key first."""

import argparse
import os
import shlex
import socket
import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from app.commands.console import ConsoleBeside, missing_package
from app.commands.development_key import DevelopmentKey
from app.commands.directories import check_directories
from app.commands.store import migrate, with_store
from app.observability import logging as logs
from app.observability.engine import current_engine
from app.observability.metrics.collect import count_replaced
from app.observability.tracing import TracingUnavailable, load_tracing
from app.server.uvicorn import CannotListen, listen, url_of
from app.server.uvicorn import serve as serve_on
from app.settings import Settings, variable
from app.workers.run_directory import run_directory
from app.workers.supervisor import Supervisor
from campaigns.errors import DatabaseUnavailable
from campaigns.log.service import check_writable


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
    parser.add_argument(
        "--console", action="store_true", help="also serve the web console, on the next port"
    )
    parser.set_defaults(run=run)


def port(text: str) -> int:
    number = int(text)
    if not 0 <= number <= 65535:
        raise ValueError
    return number


def run(options: argparse.Namespace, settings: Settings) -> int:
    check_directories(settings)
    wanted = settings.port if options.port is None else options.port
    try:
        listener = listen(options.host or settings.host, wanted)
    except CannotListen as error:
        hint = f"choose another port with --port or {variable('port')}"
        print(f"copse: {error}; {hint}", file=sys.stderr)
        return 1
    if settings.traces:
        try:
            load_tracing()
        except TracingUnavailable as error:
            print(f"copse: {error}", file=sys.stderr)
            return 1
    several = settings.workers > 1
    logs.configure(settings.log_level, settings.log_format, None if several else 0)
    console = None
    if options.console:
        if missing := missing_package():
            needed = f"the console needs {missing}: pip install 'copse[console]'"
            print(f"copse: {needed}", file=sys.stderr)
            return 1
        port_beside = listener.getsockname()[1] + 1 if wanted else 0
        console = ConsoleBeside(settings, port_beside)
    with listener:
        key = None
        if options.development:
            key = _develop(settings)
        else:
            _check(settings)
        welcome = _welcome(key, console)
        try:
            if several:
                return _serve_with_workers(settings, listener, welcome)
            serve_on(settings, listener, welcome)
        finally:
            if console is not None:
                console.end()
        return 0


def _serve_with_workers(
    settings: Settings, listener: socket.socket, welcome: Callable[[str], None]
) -> int:
    with run_directory(settings.run_directory) as directory:
        os.environ[variable("run_directory")] = str(directory)
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
    """Fail now if tables are missing, or if a SQLite file is read-only. A server that is down may
    come back."""
    try:
        with_store(settings, check_writable)
    except DatabaseUnavailable:
        if settings.database_url.startswith("sqlite"):
            raise


def _develop(settings: Settings) -> DevelopmentKey:
    migrate(settings)
    key = DevelopmentKey.beside(settings.database_url)
    with_store(settings, key.ensure)
    return key


def _welcome(key: DevelopmentKey | None, console: ConsoleBeside | None) -> Callable[[str], None]:
    def started(url: str) -> None:
        print(f"Copse {version('copse')} is at {url}")
        if console is not None:
            print(f"  console:  {console.url}")
            console.start(url)
        print(f"  API documentation:  {url}/docs")
        print(f"  engine:  {current_engine()}")
        if key is not None:
            path = shlex.quote(str(key.path))
            print(f"  the key for development is in {key.path}:\n")
            print(f'curl -s {url}/v1/campaigns -H "Authorization: Bearer $(cat {path})"\n')
        sys.stdout.flush()

    return started
