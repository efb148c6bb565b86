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
EXAMPLE = '{\n  "country": "US",\n  "device.type": "phone",\n  "age": 30\n}'


async def show(request: Request) -> Response:
    """The form; with `sample`, filled with a sampled request."""
    api, asked = api_of(request), request.query_params
    samples = (await api.get("/v1/requests", limit=SHOWN))["items"]
    text = EXAMPLE
    sample = asked.get("sample", "")
    if sample.isdecimal() and int(sample) < len(samples):
        text = json.dumps(samples[int(sample)]["attributes"], indent=2)
    return _page(request, text, asked.get("campaign_id", ""), samples)


async def explain(request: Request) -> Response:
    """The ranking of a request, and the explanation of a campaign."""
    api, form = api_of(request), await form_of(request)
    samples = (await api.get("/v1/requests", limit=SHOWN))["items"]
    text, campaign_id = form.get("request", ""), form.get("campaign_id", "").strip()
    try:
        sent = json.loads(text)
        if not isinstance(sent, dict):
            raise ValueError("expected an object of attributes, or a bid request")
    except ValueError as error:
        return _page(request, text, campaign_id, samples, error=f"This is not JSON: {error}")
    values: dict[str, Any] = {}
    try:
        values |= await _ranking(request, api, sent)
        if campaign_id:
            values |= await _explanation(api, sent, campaign_id)
    except ApiError as error:
        details = [f"{e['pointer'].lstrip('/')}: {e['detail']}" for e in error.errors]
        values["error"] = " ".join([str(error), *details])
    return _page(request, text, campaign_id, samples, **values)


async def _ranking(request: Request, api: Api, sent: dict[str, Any]) -> dict[str, Any]:
    if not session_of(request).may("match"):
        return {"unranked": "The ranking needs a key with the scope match."}
    if "imp" in sent:
        answer = await api.send("POST", "/v1/openrtb", json={**sent, "test": 1})
        imps = answer.json()["imps"] if answer.status_code == 200 else []
        ranked = [(f"imp {imp['id']}", imp["matches"]) for imp in imps]
    else:
        asked = {"attributes": sent, "limit": SHOWN, "total": True, "log": False}
        found = await api.post("/v1/match", asked)
        ranked = [(f"{found['total']} in all", found["matches"])]
    ids = sorted({match["campaign_id"] for _, matches in ranked for match in matches})
    names = {}
    for id in ids[:SHOWN]:
        names[id] = (await api.get(f"/v1/campaigns/{id}"))["name"]
    return {"ranked": ranked, "names": names}


async def _explanation(api: Api, sent: dict[str, Any], campaign_id: str) -> dict[str, Any]:
    if not campaign_id.isdecimal():
        return {"error": "The id of a campaign is a number."}
    asked = {"bid_request": sent} if "imp" in sent else {"attributes": sent}
    found = await api.post("/v1/explain", {"campaign_id": int(campaign_id), **asked})
    campaign = await api.get(f"/v1/campaigns/{campaign_id}")
    return {"explained": found, "campaign": campaign}


def _page(
    request: Request, text: str, campaign_id: str, samples: list[dict[str, Any]], **values: Any
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
    labels = [", ".join(f"{k} {_short(v)}" for k, v in s["attributes"].items()) for s in samples]
    return page(
        request,
        "why.html",
        "Why",
        text=text,
        campaign_id=campaign_id,
        samples=[(s["at"], label[:90]) for s, label in zip(samples, labels, strict=True)],
        **shown,
    )


def _short(value: Any) -> str:
    return json.dumps(value) if isinstance(value, list | dict) else str(value)


ROUTES = [Route("/why", show), Route("/why", explain, methods=["POST"])]
