"""`copse statistics list|activate|roll-back`: what is known of the traffic, and what steers."""

import argparse
from typing import Any

from app.commands.store import ACTOR, with_store
from app.settings import Settings
from campaigns.statistics import service
from campaigns.statistics.versions import StatisticsVersion

SHOWN = 20


def add_to(commands: Any) -> None:
    parser = commands.add_parser(
        "statistics", help="list the versions of the statistics, activate one, roll back"
    )
    actions = parser.add_subparsers(metavar="action", required=True)

    listing = actions.add_parser("list", help=f"list the last {SHOWN} versions")
    listing.set_defaults(run=show)

    activating = actions.add_parser("activate", help="let a version steer every index")
    activating.add_argument("id", type=int)
    activating.add_argument(
        "--force", action="store_true", help="also if a gate did not let it pass"
    )
    activating.set_defaults(run=activate)

    rolling = actions.add_parser("roll-back", help="let the version steer that did before")
    rolling.set_defaults(run=roll_back)


def show(_: argparse.Namespace, settings: Settings) -> int:
    versions = with_store(settings, lambda store: service.page(store, SHOWN)).items
    rows: list[tuple[str, ...]] = [("id", "days", "rows", "gates", "largest drift", "")]
    rows += [_row(version) for version in versions]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = zip(row, widths, strict=True)
        print("  ".join(cell.ljust(width) for cell, width in cells).rstrip())
    return 0


def activate(options: argparse.Namespace, settings: Settings) -> int:
    version = with_store(
        settings, lambda store: service.activate(store, ACTOR, options.id, options.force)
    )
    print(f"the statistics {version.id} steer every index in a moment: rev {version.rev}")
    return 0


def roll_back(_: argparse.Namespace, settings: Settings) -> int:
    done = with_store(settings, lambda store: service.roll_back(store, ACTOR))
    again = "no statistics steer" if done.active is None else f"the statistics {done.active.id} do"
    print(f"rolled back: {again}, from rev {done.rev} on")
    return 0


def _row(version: StatisticsVersion) -> tuple[str, ...]:
    days = version.days[0]
    if len(version.days) > 1:
        days += f" to {version.days[-1]}"
    standing = "active" if version.active else ""
    return (str(version.id), days, f"{version.rows:,}", version.gates, _drift(version), standing)


def _drift(version: StatisticsVersion) -> str:
    """The attribute that changed most since the version before."""
    attributes = version.drift["attributes"] if version.drift else {}
    if not attributes:
        return ""
    name, told = max(attributes.items(), key=lambda item: float(item[1]["psi"]))
    return f"{name} {told['psi']:g}"
