"""`copse migrate`: migrate the database to the latest revision."""

import argparse
from typing import Any

from app.commands.store import migrate
from app.settings import Settings
from migrations.run import latest


def add_to(commands: Any) -> None:
    parser = commands.add_parser("migrate", help="migrate the database to the latest revision")
    parser.set_defaults(run=run)


def run(_: argparse.Namespace, settings: Settings) -> int:
    migrate(settings)
    print(f"{settings.shown('database_url')} is at revision {latest()}")
    return 0
