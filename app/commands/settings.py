"""`copse settings`: every setting, its value and its meaning."""

import argparse
from typing import Any

from app.settings import Settings, variable


def add_to(commands: Any) -> None:
    parser = commands.add_parser("settings", help="print every setting, its value and its meaning")
    parser.set_defaults(run=run)


def run(_: argparse.Namespace, settings: Settings) -> int:
    for name, field in Settings.model_fields.items():
        changed = getattr(settings, name) != field.default
        default = f" (default: {field.default})" if changed else ""
        print(f"{variable(name)}={settings.shown(name)}\n    {field.description}{default}")
    return 0
