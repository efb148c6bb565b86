"""The delivery of a campaign: what it got, why it missed the rest, and who changed it when."""

from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from console.api import Api, ApiError
from console.chart import HEIGHT, WIDTH, bars
from console.context import api_of, page, session_of
from console.difference import fields

HOURS = (24, 72)
REASONS = {
    "targeting": "Targeting",
    "flight": "Outside its flight",
    "advertiser_paused": "Advertiser paused",
    "excluded": "Excluded by the request",
    "floor": "Bid below the floor",
    "blocked": "Category not allowed",
    "restricted": "Only some deals may bid",
}


async def show(request: Request) -> Response:
    """The chart, the reasons and the history."""
    api, id = api_of(request), request.path_params["id"]
    asked = request.query_params.get("hours", "")
    hours = int(asked) if asked in map(str, HOURS) else HOURS[0]
    campaign = await api.get(f"/v1/campaigns/{id}")
    found = await api.get(f"/v1/campaigns/{id}/delivery", hours=hours)
    explained = found["explained"] or 1
    reasons = [
        {
            "label": REASONS.get(each["code"], each["code"]),
            "predicate": each["predicate"],
            "count": each["count"],
            "share": round(100 * each["count"] / explained),
        }
        for each in found["reasons"]
    ]
    return page(
        request,
        "delivery.html",
        campaign["name"],
        campaign=campaign,
        delivery=found,
        hours=hours,
        choices=HOURS,
        bars=bars(found["hours"], hours, datetime.now(UTC)),
        size=(WIDTH, HEIGHT),
        reasons=reasons,
        may_audit=session_of(request).may("audit:read"),
        history=await history_of(api, id) if session_of(request).may("audit:read") else [],
    )


async def history_of(api: Api, id: int) -> list[dict[str, Any]]:
    """The last changes of a campaign, the newest first."""
    try:
        found = await api.get("/v1/audit", kind="campaign", object_id=str(id), limit=50)
    except ApiError:
        return []
    return [
        {
            "at": entry["at"],
            "who": entry["actor_name"] or entry["actor"],
            "action": entry["action"],
            "fields": fields(entry["before"], entry["after"]) if entry["before"] else [],
        }
        for entry in found["items"]
    ]


ROUTES = [Route("/campaigns/{id:int}/delivery", show)]
