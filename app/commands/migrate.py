"""`copse migrate`: migrate the database to the latest revision."""

import argparse
from typing import Any

from app.settings import Settings, without_password
from migrations.run import latest, upgrade


def add_to(commands: Any) -> None:
    parser = commands.add_parser("migrate", help="migrate the database to the latest revision")
    parser.set_defaults(run=run)


def run(_: argparse.Namespace, settings: Settings) -> int:
    upgrade(settings.database_url)
    print(f"{without_password(settings.database_url)} is at revision {latest()}")
    return 0
