"""Operations: workers, statistics, what was ignored, and the keys."""

import re
from collections import defaultdict
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from console.api import Api, ApiError, NotFound
from console.context import api_of, go_to, page, session_of
from console.security import form_of

SCOPES = {
    "match": "send match requests",
    "campaigns:read": "read campaigns, explain, forecast",
    "campaigns:write": "create and change campaigns",
    "stats:write": "activate statistics",
    "audit:read": "read who changed what",
    "keys:write": "create and revoke keys",
}
COUNTED = {
    "copse_unknown_attributes_total": "unknown attributes",
    "copse_openrtb_ignored_total": "ignored fields of bid requests",
}
_METRIC = re.compile(r'(\w+)\{[^}]*?(?:name|path|attribute|field)="([^"]*)"[^}]*\} (\S+)')


async def show(request: Request) -> Response:
    """The state of the service at a glance."""
    return await _page(request)


async def _page(request: Request, **values: Any) -> Response:
    api, session = api_of(request), session_of(request)
    index = await api.get("/v1/index")
    statistics = None
    if session.may("campaigns:read"):
        statistics = await api.get("/v1/statistics", limit=10)
    operators = await _operators(api) if session.may("campaigns:read") else []
    keys = None
    if session.may("keys:write"):
        listed = (await api.get("/v1/keys"))["items"]
        keys = [key | {"state": state_of(key, datetime.now(UTC))} for key in reversed(listed)]
    poisoned = {
        (each["kind"], each["object_id"]): each
        for worker in index["workers"]
        for each in worker["poisoned"]
    }
    shown = {"token": "", "made": None, "form": {"name": ""}, "problems": {}, **values}
    return page(
        request,
        "operations.html",
        "Operations",
        422 if shown["problems"] else 200,
        workers=index["workers"],
        silent=index["silent"],
        differing=differing_revs(index["workers"]),
        poisoned=list(poisoned.values()),
        ignored=await _ignored(api),
        statistics=statistics,
        operators=operators,
        keys=keys,
        scopes=SCOPES,
        may_activate=session.may("stats:write"),
        **shown,
    )


def differing_revs(workers: list[dict[str, Any]]) -> list[int]:
    """The revs at which workers have different campaigns: that should never be."""
    digests = defaultdict(set)
    for each in workers:
        if each["digest"] is not None:
            digests[each["epoch"], each["rev"]].add(each["digest"])
    return [rev for (_, rev), found in digests.items() if len(found) > 1]


def state_of(key: dict[str, Any], now: datetime) -> str:
    """Whether a key is valid, expired or revoked."""
    if key["revoked_at"]:
        return "revoked"
    expires_at = key["expires_at"]
    return "expired" if expires_at and datetime.fromisoformat(expires_at) <= now else "valid"


async def _operators(api: Api) -> list[dict[str, Any]]:
    """Registered operators, where the service has them."""
    try:
        found: list[dict[str, Any]] = (await api.get("/v1/operators"))["items"]
    except NotFound:
        return []
    return found


async def _ignored(api: Api) -> list[tuple[str, list[tuple[str, int]]]]:
    """What requests have and the service does not use, by name, the most frequent first."""
    counts: dict[str, dict[str, float]] = {name: {} for name in COUNTED}
    for name, label, value in _METRIC.findall(await api.text("/metrics")):
        if name in counts:
            counts[name][label] = counts[name].get(label, 0) + float(value)
    return [
        (COUNTED[name], sorted(((k, int(v)) for k, v in some.items()), key=lambda each: -each[1]))
        for name, some in counts.items()
    ]


async def activate(request: Request) -> Response:
    """Activate a version of the statistics, also against its gates if the person says so."""
    form = await form_of(request)
    id, force = request.path_params["id"], form.get("force") == "1"
    try:
        await api_of(request).post(f"/v1/statistics/{id}/activate", {"force": force})
    except ApiError as error:
        if error.status != 409:
            raise
        return go_to(request, "/operations", str(error))
    return go_to(request, "/operations", f"Statistics {id} are active.")


async def roll_back(request: Request) -> Response:
    """Use the statistics before these."""
    await form_of(request)
    try:
        done = await api_of(request).post("/v1/statistics/roll-back")
    except ApiError as error:
        if error.status != 409:
            raise
        return go_to(request, "/operations", str(error))
    active = done["active"]
    now = f"Statistics {active['id']} are active again." if active else "No statistics are active."
    return go_to(request, "/operations", now)


async def create_key(request: Request) -> Response:
    """Make a key; the page shows its token this once."""
    form = await form_of(request)
    fields: dict[str, Any] = {
        "name": form.get("name", ""),
        "scopes": [scope for scope in SCOPES if form.get(f"scope {scope}")],
    }
    if expires := form.get("expires_at", "").strip():
        fields["expires_at"] = expires if expires.endswith("Z") else f"{expires}Z"
    try:
        made = await api_of(request).post("/v1/keys", fields)
    except ApiError as error:
        return await _page(request, form=form, problems=error.by_field())
    return await _page(request, token=made["token"], made=made)


async def revoke_key(request: Request) -> Response:
    """Revoke a key for good."""
    await form_of(request)
    done = await api_of(request).post(f"/v1/keys/{request.path_params['id']}/revoke")
    return go_to(request, "/operations", f"The key {done['name']} is revoked.")


ROUTES = [
    Route("/operations", show),
    Route("/operations/statistics/roll-back", roll_back, methods=["POST"]),
    Route("/operations/statistics/{id:int}/activate", activate, methods=["POST"]),
    Route("/operations/keys", create_key, methods=["POST"]),
    Route("/operations/keys/{id:int}/revoke", revoke_key, methods=["POST"]),
]
