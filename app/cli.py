"""The command `copse`."""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version

from app.engine import current_engine
from app.server import CannotListen, listen, serve
from app.settings import Settings, SettingsError, variable


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; answers the exit code: 1 when it failed, 2 when it was asked wrongly."""
    options = _parser().parse_args(arguments)
    try:
        settings = Settings.from_environment(os.environ)
    except SettingsError as error:
        print(f"copse: a setting is wrong\n{error}", file=sys.stderr)
        return 2
    if options.command == "settings":
        return _settings(settings)
    return _serve(settings, options.host or settings.host, options.port)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="copse", description="The decisioning service of an ad exchange."
    )
    parser.add_argument("--version", action="version", version=f"copse {version('copse')}")
    commands = parser.add_subparsers(dest="command", required=True)
    serving = commands.add_parser("serve", help="serve over HTTP")
    serving.add_argument("--host", help=f"the address to listen on (else {variable('host')})")
    serving.add_argument(
        "--port", type=_port, help=f"the port, 0 for a free one (else {variable('port')})"
    )
    commands.add_parser("settings", help="print every setting, its value and its meaning")
    return parser


def _port(text: str) -> int:
    port = int(text)
    if not 0 <= port <= 65535:
        raise ValueError
    return port


def _serve(settings: Settings, host: str, port: int | None) -> int:
    try:
        listener = listen(host, settings.port if port is None else port)
    except CannotListen as error:
        print(
            f"copse: {error}\nchoose another port with --port or {variable('port')}",
            file=sys.stderr,
        )
        return 1

    def started(url: str) -> None:
        print(f"Copse {version('copse')} is at {url}")
        print(f"  its API, to read and to try:  {url}/docs")
        print(f"  engine:  {current_engine()}", flush=True)

    with listener:
        serve(settings, listener, started)
    return 0


def _settings(settings: Settings) -> int:
    for name, field in Settings.model_fields.items():
        value = getattr(settings, name)
        default = "" if value == field.default else f" (default: {field.default})"
        print(f"{variable(name)}={value}\n    {field.description}{default}")
    return 0
