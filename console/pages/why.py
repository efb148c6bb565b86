"""Why: paste a request, see the ranking, and why a campaign is in it or not."""

import json
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from console.api import Api, ApiError
from console.context import api_of, page, session_of
from console.security import form_of

SHOWN = 20
CHANGES = {
    "draft": "Activate the campaign.",
    "paused": "Activate the campaign.",
    "archived": "Duplicate the campaign: an archived one cannot serve again.",
    "advertiser_paused": "Resume its advertiser.",
    "not_started": "Let its flight start earlier.",
    "over": "Let its flight end later.",
    "excluded": "The request must not exclude it.",
    "floor": "Bid at least the floor.",
    "blocked_category": "The request must not block its category.",
    "category_not_allowed": "The request must allow its categories.",
    "blocked_advertiser": "The request must not block its advertiser.",
    "seat": "The request must let the seat of its advertiser buy.",
    "domain": "The request must let the domain of its advertiser buy.",
    "consent": "The request must have the user's consent.",
}
"""What would have to change for each reason but the targeting, whose predicates say it."""

EXAMPLE = '{\n  "country": "US",\n  "device.type": "phone",\n  "age": 30\n}'


async def show(request: Request) -> Response:
    """The form."""
    samples = await _samples(api_of(request))
    return _page(request, EXAMPLE, request.query_params.get("campaign_id", ""), samples)


async def explain(request: Request) -> Response:
    """The ranking of a request, and the explanation of a campaign. The request is what was typed or
    a sampled one; the campaign what was typed or one of the ranking."""
    api, form = api_of(request), await form_of(request)
    samples = await _samples(api)
    text = form.get("sample") or form.get("request", "")
    campaign = form.get("ranked") or form.get("campaign", "").strip()
    try:
        sent = json.loads(text)
        if not isinstance(sent, dict):
            raise ValueError("expected an object of attributes, or a bid request")
    except ValueError as error:
        return _page(request, text, campaign, samples, error=f"This is not JSON: {error}")
    values: dict[str, Any] = {}
    try:
        values |= await _ranking(request, api, sent)
        if campaign:
            values |= await _explanation(api, sent, await _campaign_id(api, campaign))
    except ApiError as error:
        details = [f"{e['pointer'].lstrip('/')}: {e['detail']}" for e in error.errors]
        values["error"] = " ".join([str(error), *details])
    return _page(request, json.dumps(sent, indent=2), campaign, samples, **values)


async def _samples(api: Api) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await api.get("/v1/requests", limit=SHOWN))["items"]
    return found


async def _campaign_id(api: Api, text: str) -> int:
    """The campaign with this id, or the only one that this text is found in."""
    if text.isdecimal():
        return int(text)
    found = (await api.get("/v1/campaigns", text=text, limit=2))["items"]
    if len(found) != 1:
        fits = "Several campaigns fit" if found else "No campaign fits"
        raise ApiError(404, {"detail": f"{fits} {text!r}: type more of the name, or the id."})
    id: int = found[0]["id"]
    return id


async def _ranking(request: Request, api: Api, sent: dict[str, Any]) -> dict[str, Any]:
    if not session_of(request).may("match"):
        return {"unranked": "The ranking needs a key with the scope match."}
    if _is_bid(sent):
        answer = await api.send("POST", "/v1/openrtb", json={**sent, "test": 1})
        imps = answer.json()["imps"] if answer.status_code == 200 else []
        ranked = [(f"imp {imp['id']}", imp["matches"]) for imp in imps]
    else:
        asked = {**_match_of(sent), "limit": SHOWN, "total": True, "log": False}
        found = await api.post("/v1/match", asked)
        total = found["total"]
        label = f"the best {SHOWN} of {total}" if total > SHOWN else f"{total} in all"
        ranked = [(label, found["matches"])]
    ids = sorted({match["campaign_id"] for _, matches in ranked for match in matches})
    names = {}
    for id in ids[:SHOWN]:
        names[id] = (await api.get(f"/v1/campaigns/{id}"))["name"]
    return {"ranked": ranked, "names": names}


async def _explanation(api: Api, sent: dict[str, Any], id: int) -> dict[str, Any]:
    asked = {"bid_request": sent} if _is_bid(sent) else _match_of(sent)
    found = await api.post("/v1/explain", {"campaign_id": id, **asked})
    return {"explained": found, "campaign": await api.get(f"/v1/campaigns/{id}")}


def _is_bid(sent: dict[str, Any]) -> bool:
    return "imp" in sent


def _match_of(sent: dict[str, Any]) -> dict[str, Any]:
    """A request of `/v1/match`: people paste its attributes, or all of it."""
    if not isinstance(sent.get("attributes"), dict):
        return {"attributes": sent}
    return {name: sent[name] for name in ("attributes", "exclude") if name in sent}


def _page(
    request: Request, text: str, asked: str, samples: list[dict[str, Any]], **values: Any
) -> Response:
    shown = {
        "error": "",
        "ranked": None,
        "unranked": "",
        "names": {},
        "explained": None,
        "campaign": None,
        **values,
    }
    ids = [match["campaign_id"] for _, matches in shown["ranked"] or [] for match in matches]
    id = shown["campaign"]["id"] if shown["campaign"] else None
    return page(
        request,
        "why.html",
        "Why",
        text=text,
        asked=asked,
        samples=samples,
        changes=CHANGES,
        place=ids.index(id) + 1 if id in ids else 0,
        **shown,
    )


ROUTES = [Route("/why", show), Route("/why", explain, methods=["POST"])]
