"""The command `copse`: its subcommands, and how errors are printed."""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version

from sqlalchemy.exc import DBAPIError

from app.commands import console, demo, feed, import_file, key, migrate, openrtb, serve, statistics
from app.commands import settings as settings_command
from app.observability.masking import without_secrets
from app.settings import Settings, SettingsError, variable
from campaigns.database.engine import reason_of
from campaigns.errors import CampaignsError, DatabaseUnavailable, InvalidFields

COMMANDS = (
    serve,
    console,
    migrate,
    key,
    import_file,
    feed,
    statistics,
    openrtb,
    demo,
    settings_command,
)

PRIVATE = 0o027
"""The umask: databases, indexes and logs are nobody's but their owner's and their group's."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code: 1 if it failed, 2 for wrong usage."""
    if arguments is None:  # a process of its own
        os.umask(os.umask(0) | PRIVATE)
    options = _parser().parse_args(arguments)
    try:
        settings = Settings.from_environment(os.environ)
        code: int = options.run(options, settings)
    except SettingsError as error:
        print(
            "".join(f"copse: {line}\n" for line in str(error).splitlines()), end="", file=sys.stderr
        )
        return 2
    except DatabaseUnavailable as error:
        where = f"{variable('database_url')}={settings.shown('database_url')}"
        print(f"copse: {without_secrets(str(error))}; {where}", file=sys.stderr)
        return 1
    except DBAPIError as error:
        print(f"copse: the database refused: {without_secrets(reason_of(error))}", file=sys.stderr)
        return 1
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
