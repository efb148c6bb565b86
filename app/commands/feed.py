"""`copse feed new-epoch|prune|digest`: the log of changes that every index follows."""

import argparse
from datetime import timedelta
from typing import Any

from app.commands.store import ACTOR, with_store
from app.settings import Settings
from campaigns.log import service as log
from index import digest_of


def add_to(commands: Any) -> None:
    parser = commands.add_parser("feed", help="manage the log of changes")
    actions = parser.add_subparsers(metavar="action", required=True)

    restoring = actions.add_parser(
        "new-epoch",
        help="start a new epoch after a restore: an index that holds lost changes loads everything",
    )
    restoring.set_defaults(run=new_epoch)

    pruning = actions.add_parser(
        "prune", help="remove old changes; a running service also does this"
    )
    pruning.add_argument("--keep", type=int, metavar="CHANGES", help="number of changes to keep")
    pruning.add_argument("--hours", type=float, help="age of the oldest change to keep")
    pruning.set_defaults(run=prune)

    digesting = actions.add_parser(
        "digest", help="print the digest of the database, to compare with /v1/index"
    )
    digesting.set_defaults(run=digest)


def new_epoch(_: argparse.Namespace, settings: Settings) -> int:
    head = with_store(settings, lambda store: log.new_epoch(store, ACTOR))
    print(f"epoch {head.epoch} begins at rev {head.rev}")
    return 0


def prune(options: argparse.Namespace, settings: Settings) -> int:
    keep = settings.keep_changes if options.keep is None else max(1, options.keep)
    hours = settings.keep_changes_hours if options.hours is None else options.hours
    count = with_store(settings, lambda store: log.prune(store, keep, timedelta(hours=hours)))
    print(f"{count} changes removed")
    return 0


def digest(_: argparse.Namespace, settings: Settings) -> int:
    found = with_store(settings, lambda store: log.digest(store, digest_of))
    print(f"epoch {found.epoch} rev {found.rev} campaigns {found.count} digest {found.digest:016x}")
    return 0
