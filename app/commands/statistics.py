"""`copse statistics list|activate|roll-back`: the versions of the traffic statistics."""

import argparse
from typing import Any

from app.commands.store import ACTOR, with_store
from app.commands.table import print_table
from app.settings import Settings
from campaigns.statistics import service
from campaigns.statistics.versions import StatisticsVersion

SHOWN = 20


def add_to(commands: Any) -> None:
    parser = commands.add_parser(
        "statistics", help="list the versions of the statistics, activate one, or roll back"
    )
    actions = parser.add_subparsers(metavar="action", required=True)

    listing = actions.add_parser("list", help=f"list the last {SHOWN} versions")
    listing.set_defaults(run=show)

    activating = actions.add_parser("activate", help="use a version in every index")
    activating.add_argument("id", type=int)
    activating.add_argument(
        "--force", action="store_true", help="activate it even if a gate failed"
    )
    activating.set_defaults(run=activate)

    rolling = actions.add_parser("roll-back", help="use the previous version again")
    rolling.set_defaults(run=roll_back)


def show(_: argparse.Namespace, settings: Settings) -> int:
    versions = with_store(settings, lambda store: service.page(store, SHOWN)).items
    head = ("id", "days", "rows", "gates", "largest drift", "")
    print_table([head, *map(_row, versions)])
    return 0


def activate(options: argparse.Namespace, settings: Settings) -> int:
    version = with_store(
        settings, lambda store: service.activate(store, ACTOR, options.id, options.force)
    )
    print(f"statistics {version.id} are active from rev {version.rev} on")
    return 0


def roll_back(_: argparse.Namespace, settings: Settings) -> int:
    done = with_store(settings, lambda store: service.roll_back(store, ACTOR))
    active = "no statistics" if done.active is None else f"statistics {done.active.id}"
    print(f"rolled back: {active} are active from rev {done.rev} on")
    return 0


def _row(version: StatisticsVersion) -> tuple[str, ...]:
    days = version.days[0]
    if len(version.days) > 1:
        days += f" to {version.days[-1]}"
    standing = "active" if version.active else ""
    return (str(version.id), days, f"{version.rows:,}", version.gates, _drift(version), standing)


def _drift(version: StatisticsVersion) -> str:
    """The attribute that changed most since the previous version."""
    attributes = version.drift["attributes"] if version.drift else {}
    if not attributes:
        return ""
    name, drift = max(attributes.items(), key=lambda item: float(item[1]["psi"]))
    return f"{name} {drift['psi']:g}"
