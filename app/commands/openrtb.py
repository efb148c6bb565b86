"""`copse openrtb attributes FILE`: what a bid request becomes."""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from app.openrtb import MalformedBidRequest, ask, parse
from app.settings import Settings
from campaigns.feed.view import View


def add_to(commands: Any) -> None:
    parser = commands.add_parser("openrtb", help="look at OpenRTB bid requests")
    actions = parser.add_subparsers(metavar="action", required=True)
    attributes = actions.add_parser(
        "attributes", help="print the attributes that a bid request becomes, as JSON"
    )
    attributes.add_argument("file", help="a file with one bid request, or - for standard input")
    attributes.set_defaults(run=run)


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Print what a match would see; needs no database."""
    try:
        body = sys.stdin.buffer.read() if options.file == "-" else Path(options.file).read_bytes()
    except OSError as error:
        print(f"copse: {options.file}: {error.strerror}", file=sys.stderr)
        return 1
    match = settings.match_settings
    try:
        request = parse(body, required_purposes=match.openrtb_purposes)
    except MalformedBidRequest as error:
        print(f"copse: {options.file}: {error}", file=sys.stderr)
        return 1
    view = View.empty(dict(match.openrtb_table.types), settings.limits)
    question = ask(request, view, time.time(), match.rates, match.openrtb_table)
    found = {
        "imps": [
            {
                "id": imp.id,
                "reason": imp.reason,
                "formats": [
                    {"format": each.format, "attributes": each.event} for each in imp.formats
                ],
            }
            for imp in question.imps
        ],
        "withheld_by": request.privacy.reasons,
        "ignored": request.ignored,
        "tolerated": request.tolerated,
    }
    print(json.dumps(found, indent=2, ensure_ascii=False))
    return 0
