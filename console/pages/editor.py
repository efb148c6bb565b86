"""What the targeting editor asks while somebody types: words, errors, the forecast, a dry run.

Each answer is JSON for `static/editor.js`.
"""

import json
from collections import Counter
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from console.api import ApiError
from console.context import api_of
from console.security import sent_by_script

LOGIC = ("and", "or", "not", "xor", "xnor", "true", "false")


async def words(request: Request) -> Response:
    """What can be completed: the attributes with their types, the values that they had in the last
    sampled requests and those that they can have, and the words of the language."""
    api = api_of(request)
    language = await api.get("/v1/expressions/words")
    found = await api.get("/v1/attributes")
    seen: dict[str, Counter[str]] = {}
    for each in (await api.get("/v1/requests", limit=200))["items"]:
        for name, value in each["attributes"].items():
            values = value if isinstance(value, list) else [value]
            seen.setdefault(name, Counter()).update(v for v in values if isinstance(v, str))
    attributes = [
        {
            "name": each["name"],
            "type": each["type"],
            "description": each["description"],
            "values": _values(seen.get(each["name"], Counter()), each["usual_values"] or []),
        }
        for each in found["items"]
    ]
    return JSONResponse({"attributes": attributes, "logic": LOGIC, **language})


def _values(seen: Counter[str], usual: list[str]) -> list[str]:
    """The most frequent ones first, then the vocabulary."""
    first = [value for value, _ in seen.most_common(20)]
    return [*first, *(value for value in usual if value not in first)]


async def check(request: Request) -> Response:
    """Whether a targeting is valid; the error with its place, or warnings and the normal form."""
    text = str((await _sent(request)).get("text", ""))
    try:
        found = await api_of(request).post("/v1/expressions/validate", {"text": text})
    except ApiError as error:
        if error.status != 422:
            raise
        return JSONResponse({"error": error.errors[0] if error.errors else {}})
    normal = found["normal_form"]["text"]
    shown = {name: found[name] for name in ("predicates", "cost", "warnings")}
    return JSONResponse({**shown, "normal_form": normal})


async def forecast(request: Request) -> Response:
    """The requests a day that a targeting would match, and what each predicate costs."""
    text = str((await _sent(request)).get("text", ""))
    try:
        found = await api_of(request).post("/v1/forecast", {"targeting": text})
    except ApiError as error:
        return JSONResponse({"unavailable": str(error)})
    shown = ("matched_requests_per_day", "hits", "sampled_requests", "insufficient_data", "without")
    return JSONResponse({name: found[name] for name in shown})


async def preview(request: Request) -> Response:
    """A dry run of a targeting: what it gains and loses of the last sampled requests."""
    sent = await _sent(request)
    id, api = sent.get("campaign_id"), api_of(request)
    try:
        if isinstance(id, int):
            fields: dict[str, Any] = {"targeting": sent.get("text")}
            found = await api.post(f"/v1/campaigns/{id}/preview", fields)
        else:
            owner = sent.get("advertiser_id")
            fields = {"targeting": sent.get("text"), "name": "new", "advertiser_id": owner}
            found = await api.post("/v1/campaigns/preview", fields)
    except ApiError as error:
        details = [each["detail"] for each in error.errors] or [str(error)]
        return JSONResponse({"unavailable": " ".join(details)})
    shown = ("sampled", "cost", "same_targeting", "warnings")
    return JSONResponse({name: found[name] for name in shown})


async def _sent(request: Request) -> dict[str, Any]:
    try:
        sent = json.loads(await sent_by_script(request))
    except ValueError:
        sent = None
    return sent if isinstance(sent, dict) else {}


ROUTES = [
    Route("/editor/words", words),
    Route("/editor/check", check, methods=["POST"]),
    Route("/editor/forecast", forecast, methods=["POST"]),
    Route("/editor/preview", preview, methods=["POST"]),
]
