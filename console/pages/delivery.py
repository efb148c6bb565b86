"""The delivery of a campaign: what it got, why it missed the rest, and who changed it when."""

from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from console.api import Api
from console.chart import HEIGHT, WIDTH, chart, reason_shares
from console.context import api_of, page, session_of
from console.difference import fields

HOURS = (24, 72)
REASONS = {
    "targeting": "Not matched",
    "outranked": "Others were better",
    "flight": "Outside its flight",
    "advertiser_paused": "Advertiser paused",
    "excluded": "Excluded by the request",
    "floor": "Bid below the floor",
    "blocked": "Category blocked",
    "restricted": "Only some deals may bid",
}
ACTIONS = {
    "create": "Created",
    "patch": "Changed",
    "import": "Imported",
    "activate": "Activated",
    "pause": "Paused",
    "archive": "Archived",
}


async def show(request: Request) -> Response:
    """The chart, the reasons and the history."""
    api, id = api_of(request), request.path_params["id"]
    asked = request.query_params.get("hours", "")
    hours = int(asked) if asked in map(str, HOURS) else HOURS[0]
    campaign = await api.get(f"/v1/campaigns/{id}")
    found = await api.get(f"/v1/campaigns/{id}/delivery", hours=hours)
    may_audit = session_of(request).may("audit:read")
    history = await _history(api, id) if may_audit else []
    changes = [
        (datetime.fromisoformat(entry["at"]), f"{entry['action']} by {entry['who']}")
        for entry in history
    ]
    shares = reason_shares(found)
    return page(
        request,
        "delivery.html",
        campaign["name"],
        campaign=campaign,
        delivery=found,
        hours=hours,
        choices=HOURS,
        chart=chart(found["hours"], shares, changes, hours, datetime.now(UTC)),
        size=(WIDTH, HEIGHT),
        shares=shares,
        reasons=REASONS,
        may_audit=may_audit,
        history=history,
    )


async def _history(api: Api, id: int) -> list[dict[str, Any]]:
    """The last changes of a campaign, the newest first."""
    found = await api.get("/v1/audit", kind="campaign", object_id=str(id), limit=50)
    return [
        {
            "at": entry["at"],
            "who": entry["actor_name"] or entry["actor"],
            "action": ACTIONS.get(entry["action"], entry["action"]),
            "fields": _changes(entry["before"], entry["after"]),
        }
        for entry in found["items"]
    ]


def _changes(before: dict[str, Any] | None, after: dict[str, Any]) -> list[Any]:
    """What a change did; of a new campaign its targeting, with which all others are compared."""
    if before is None:
        return fields({}, {"targeting": after["targeting"]})
    return fields(before, after)


ROUTES = [Route("/campaigns/{id:int}/delivery", show)]
