"""`copse key create|list|revoke`: API keys."""

import argparse
import re
from datetime import UTC, datetime, timedelta
from typing import Any

from app.commands.store import ACTOR, with_store
from app.commands.table import print_table
from app.settings import Settings
from campaigns.keys import service
from campaigns.keys.model import SCOPES, ApiKey
from campaigns.timestamps import written

_UNITS = {"h": "hours", "d": "days", "w": "weeks"}


def add_to(commands: Any) -> None:
    parser = commands.add_parser("key", help="create, list and revoke API keys")
    actions = parser.add_subparsers(metavar="action", required=True)

    creating = actions.add_parser(
        "create", help="create a key and print its token, which is shown only once"
    )
    creating.add_argument("name", help="its owner or purpose")
    creating.add_argument(
        "--scope", action="append", required=True, choices=SCOPES, dest="scopes", help="repeatable"
    )
    creating.add_argument(
        "--expires",
        type=expiry,
        metavar="90d|12h|TIME",
        help="when the key expires (default: never)",
    )
    creating.add_argument(
        "--rate", type=int, metavar="N", help="most requests a second to each worker"
    )
    creating.add_argument(
        "--max-body", type=int, metavar="BYTES", help="most bytes in a request body"
    )
    creating.set_defaults(run=create)

    listing = actions.add_parser("list", help="list all keys")
    listing.set_defaults(run=show)

    revoking = actions.add_parser("revoke", help="revoke a key permanently")
    revoking.add_argument("id", type=int)
    revoking.set_defaults(run=revoke)


def expiry(text: str) -> str:
    """A time with its zone, or a time span from now."""
    if span := re.fullmatch(r"([1-9]\d{0,4})([hdw])", text):
        return (datetime.now(UTC) + timedelta(**{_UNITS[span[2]]: int(span[1])})).isoformat()
    if datetime.fromisoformat(text).tzinfo is None:
        raise ValueError
    return text


def create(options: argparse.Namespace, settings: Settings) -> int:
    fields = {
        "name": options.name,
        "scopes": options.scopes,
        "expires_at": options.expires,
        "rate": options.rate,
        "max_body": options.max_body,
    }
    new = with_store(settings, lambda store: service.create(store, ACTOR, fields))
    print(new.token)
    return 0


def show(_: argparse.Namespace, settings: Settings) -> int:
    keys = with_store(settings, service.every)
    head = ("id", "prefix", "name", "scopes", "limits", "created", "")
    print_table([head, *map(_row, keys)])
    return 0


def revoke(options: argparse.Namespace, settings: Settings) -> int:
    key = with_store(settings, lambda store: service.revoke(store, ACTOR, options.id))
    print(f"{key.name} ({key.prefix}) is revoked; running services refuse it within seconds")
    return 0


def _row(key: ApiKey) -> tuple[str, ...]:
    standing = ""
    if key.revoked_at is not None:
        standing = f"revoked {written(key.revoked_at)}"
    elif key.expires_at is not None:
        tense = "expired" if key.expires_at <= datetime.now(UTC) else "expires"
        standing = f"{tense} {written(key.expires_at)}"
    created = str(written(key.created_at))
    scopes, limits = ",".join(key.scopes), _limits(key)
    return (str(key.id), key.prefix, key.name, scopes, limits, created, standing)


def _limits(key: ApiKey) -> str:
    rate = [] if key.rate is None else [f"{key.rate}/s"]
    max_body = [] if key.max_body is None else [f"{key.max_body} bytes"]
    return ", ".join(rate + max_body) or "-"
