"""An exchange: bid requests as they are really sent, and a view with campaigns to answer them."""

import json
from importlib import import_module
from typing import Any

from app.openrtb import Answer, BidRequest, Question, answer, ask, parse
from app.openrtb.response import matches
from campaigns.feed.apply import apply
from campaigns.feed.view import View
from campaigns.log.changes import Change
from index import Limits
from index import parse as parse_expression
from index.language import to_json
from tests.campaigns.feed.writing import active

CATALOGUE: dict[str, str] = {
    name: type
    for migration in (
        *("0001_first", "0006_offers", "0007_versions_and_points", "0008_values"),
        "0010_device_ip",
    )
    for name, type, _ in import_module(f"migrations.versions.{migration}").CATALOGUE
} | {"device.os_version": "version"}
AT = 1_790_000_000.0
"""2026-09-21, 14:13:20 UTC."""

NOW: dict[str, object] = {"now.hour": 14, "now.weekday": 1}

Document = dict[str, Any]


def bid_request(**fields: Any) -> Document:
    return {"id": "r1", "imp": [{"id": "1"}], **fields}


def parsed(document: object, **options: Any) -> BidRequest:
    return parse(json.dumps(document).encode(), **options)


def empty_view() -> View:
    view = View.empty(dict(CATALOGUE), Limits())
    view.arrive("e1", 0, "")
    return view


def asked(document: object, view: View | None = None, **options: Any) -> Question:
    return ask(parsed(document), view or empty_view(), AT, **options)


def answered(document: object, view: View, limit: int = 100, **options: Any) -> Answer:
    return answer(asked(document, view, **options), view, AT, NOW, limit)


def body(document: object, view: View, limit: int = 100, **options: Any) -> Any:
    """The answer as a client sees it; None for 204."""
    question = asked(document, view, **options)
    sent = matches(question, answer(question, view, AT, NOW, limit), view, {})
    return None if sent is None else json.loads(sent)


def events(document: object) -> list[dict[str, Any]]:
    """The event of each format of each imp, without what every imp has."""
    found = [each.event for imp in asked(document).imps for each in imp.formats]
    defaults = {"imp.floor_micros": 0, "imp.private_auction": False, "imp.media": []}
    return [{k: v for k, v in event.items() if defaults.get(k) != v} for event in found]


def event(document: object) -> dict[str, Any]:
    (only,) = events(document)
    return only


def campaign(
    id: int,
    targeting: str = "true",
    *,
    bid: int = 1_000_000,
    advertiser: int = 1,
    categories: tuple[str, ...] = (),
) -> tuple[str, str, object]:
    tree = json.loads(to_json(parse_expression(targeting, empty_view().index.schema)))
    fields = {"advertiser_id": advertiser, "priority": 0, "bid_micros": bid}
    content = active(id, 1, **fields, categories=list(categories), tree=tree)
    return "campaign", str(id), content


def advertiser(id: int, domain: str | None, **more: object) -> tuple[str, str, object]:
    content = {"id": id, "version": 1, "status": "active", "domain": domain, **more}
    return "advertiser", str(id), content


def view_of(*contents: tuple[str, str, object]) -> View:
    """What the feed makes of these changes."""
    view = empty_view()
    apply(
        view,
        [
            Change(rev, kind, id, f"n{rev}", json.dumps(content).encode(), 0.0)
            for rev, (kind, id, content) in enumerate(contents, 1)
        ],
    )
    assert not view.poisoned
    return view
