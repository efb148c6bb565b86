"""The command `copse`: its subcommands, and how errors are printed."""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version

from app.commands import demo, feed, import_file, key, migrate, serve, statistics
from app.commands import settings as settings_command
from app.settings import Settings, SettingsError
from campaigns.errors import CampaignsError, InvalidFields

COMMANDS = (serve, migrate, key, import_file, feed, statistics, demo, settings_command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code: 1 if it failed, 2 for wrong usage."""
    options = _parser().parse_args(arguments)
    try:
        settings = Settings.from_environment(os.environ)
    except SettingsError as error:
        print(f"copse: a setting is not valid\n{error}", file=sys.stderr)
        return 2
    try:
        code: int = options.run(options, settings)
    except CampaignsError as error:
        print(f"copse: {_message(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # as in `copse settings | head`
        sys.stdout = None  # nothing is flushed at exit
        return 1
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="copse", description="The decisioning service of an ad exchange."
    )
    parser.add_argument("--version", action="version", version=f"copse {version('copse')}")
    commands = parser.add_subparsers(metavar="command", required=True)
    for command in COMMANDS:
        command.add_to(commands)
    return parser


def _message(error: CampaignsError) -> str:
    if isinstance(error, InvalidFields):
        return "\n".join(f"{p.pointer.lstrip('/') or 'input'}: {p.detail}" for p in error.problems)
    return str(error)
