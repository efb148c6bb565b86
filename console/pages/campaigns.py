"""Campaigns: the list, the form, and what can be done with one."""

import json
from typing import Any
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from console.api import STALE, Api, ApiError
from console.campaign_form import EMPTY, LABELS, TEXT_FIELDS, changed, read_base, to_form
from console.context import CHANGED_MEANWHILE, api_of, go_to, page, session_of, version_of
from console.difference import pieces
from console.pages.advertisers import choices_of
from console.security import form_of

PAGE = 50
STATUSES = ("active", "draft", "paused", "archived")
DONE = {
    "activate": "is active",
    "pause": "is paused",
    "archive": "is archived",
    "delete": "is deleted",
}


async def show_list(request: Request) -> Response:
    """The campaigns that the filters choose, with their delivery."""
    api, asked = api_of(request), request.query_params
    filters = {name: asked.get(name, "") for name in ("text", "status", "advertiser_id")}
    found = await api.get("/v1/campaigns", limit=PAGE, cursor=asked.get("cursor"), **filters)
    owners = [campaign["advertiser_id"] for campaign in found["items"]]
    advertisers = await choices_of(api, *owners, filters["advertiser_id"])
    delivery: dict[int, Any] = {}
    if found["items"]:
        ids = [campaign["id"] for campaign in found["items"]]
        summed = await api.get("/v1/delivery", campaign_id=ids)
        delivery = {each["campaign_id"]: each for each in summed["items"]}
    chosen = {name: value for name, value in filters.items() if value}
    following = urlencode(chosen | {"cursor": found["next_cursor"]}) if found["next_cursor"] else ""
    return page(
        request,
        "campaigns.html",
        "Campaigns",
        campaigns=found["items"],
        delivery=delivery,
        advertisers=advertisers,
        owners={each["id"]: each["name"] for each in advertisers},
        filters=filters,
        export=urlencode(chosen),
        statuses=STATUSES,
        following=following,
        is_first="cursor" not in asked,
    )


async def new(request: Request) -> Response:
    """The form of a new campaign, or of a copy of another one."""
    api, copied = api_of(request), request.query_params.get("copy")
    form = EMPTY | {"advertiser_id": request.query_params.get("advertiser_id", "")}
    if copied and copied.isdecimal():
        form = to_form(await api.get(f"/v1/campaigns/{copied}"))
        form |= {"name": f"{form['name']} (copy)", "external_id": ""}
    return await _form(request, api, form)


async def create(request: Request) -> Response:
    """Create a draft."""
    api, form = api_of(request), await form_of(request)
    try:
        made = await api.post("/v1/campaigns", changed(form, {}))
    except ApiError as error:
        return await _form(request, api, EMPTY | form, error=error)
    return go_to(request, f"/campaigns/{made['id']}", f"{made['name']} is a draft now.")


async def show(request: Request) -> Response:
    """A campaign in its form."""
    api = api_of(request)
    campaign = await api.get(f"/v1/campaigns/{request.path_params['id']}")
    return await _form(request, api, to_form(campaign), campaign)


async def change(request: Request) -> Response:
    """Change what the person has changed, if nobody else was faster."""
    api, form = api_of(request), await form_of(request)
    id = request.path_params["id"]
    patch = changed(form, read_base(form.get("base", "")))
    try:
        done = await api.patch(f"/v1/campaigns/{id}", patch, version_of(form))
    except ApiError as error:
        campaign = await api.get(f"/v1/campaigns/{id}")
        if error.code == STALE:
            return _conflict(request, campaign, form)
        return await _form(request, api, to_form(campaign) | form, campaign, error)
    saved = f"{done['name']} is saved." if patch else "Nothing was changed."
    return go_to(request, f"/campaigns/{id}", saved)


async def act(request: Request) -> Response:
    """Activate, pause, archive or delete."""
    api, form = api_of(request), await form_of(request)
    id, action = request.path_params["id"], request.path_params["action"]
    here = f"/v1/campaigns/{id}"
    if action not in DONE:
        raise HTTPException(404)
    try:
        if action == "delete":
            await api.delete(here, version_of(form))
        else:
            await api.post(f"{here}/{action}", version=version_of(form))
    except ApiError as error:
        if error.code != STALE:
            raise
        return go_to(request, f"/campaigns/{id}", CHANGED_MEANWHILE)
    name = form.get("name", f"Campaign {id}")
    back = "/campaigns" if action == "delete" else f"/campaigns/{id}"
    return go_to(request, back, f"{name} {DONE[action]}.")


def _conflict(request: Request, campaign: dict[str, Any], form: dict[str, str]) -> Response:
    """Both versions side by side. The person's changes can be applied to the present one."""
    base, current = read_base(form["base"]), to_form(campaign)
    mine = {name: form[name] for name in TEXT_FIELDS if name in form}
    rows = []
    for name in TEXT_FIELDS:
        theirs, ours = current[name], mine.get(name, current[name]).replace("\r\n", "\n")
        if theirs != ours:
            rows.append(
                {
                    "label": LABELS[name],
                    "theirs": pieces(name, base.get(name, ""), theirs),
                    "mine": pieces(name, base.get(name, ""), ours),
                    "both": base.get(name) not in (theirs, ours),
                }
            )
    kept = current | {
        name: text
        for name, text in mine.items()
        if text.replace("\r\n", "\n").strip() != base.get(name, "").strip()
    }
    return page(
        request,
        "conflict.html",
        "Somebody else was faster",
        409,
        campaign=campaign,
        rows=rows,
        kept=kept,
        base=json.dumps(current),
    )


async def _form(
    request: Request,
    api: Api,
    form: dict[str, str],
    campaign: dict[str, Any] | None = None,
    error: ApiError | None = None,
) -> Response:
    state = None
    if campaign is not None:
        summed = await api.get("/v1/delivery", campaign_id=[campaign["id"]])
        state = summed["items"][0] if summed["items"] else None
    problems = error.by_field() if error else {}
    if "bid_micros" in problems:
        problems["bid"] = problems.pop("bid_micros")
    return page(
        request,
        "campaign.html",
        campaign["name"] if campaign else "New campaign",
        422 if error else 200,
        form=form,
        base=json.dumps(to_form(campaign)) if campaign else "",
        campaign=campaign,
        state=state,
        advertisers=await choices_of(api, form["advertiser_id"]),
        problems=problems,
        error=error,
        labels=LABELS,
        may_write=session_of(request).may("campaigns:write"),
    )


ROUTES = [
    Route("/campaigns", show_list),
    Route("/campaigns", create, methods=["POST"]),
    Route("/campaigns/new", new),
    Route("/campaigns/{id:int}", show),
    Route("/campaigns/{id:int}", change, methods=["POST"]),
    Route("/campaigns/{id:int}/{action:str}", act, methods=["POST"]),
]
