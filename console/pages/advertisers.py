"""Advertisers: the list, a new one, pause and resume."""

from contextlib import suppress
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from console.api import STALE, Api, ApiError, NotFound
from console.context import CHANGED_MEANWHILE, api_of, go_to, page, session_of, version_of
from console.security import form_of

PAGE = 100
MOST_CHOICES = 1000
EMPTY = {"name": "", "domain": ""}


async def choices_of(api: Api, *needed: Any) -> list[dict[str, Any]]:
    """Advertisers to choose from, and in any case those with the ids that are needed."""
    found: list[dict[str, Any]] = (await api.get("/v1/advertisers", limit=MOST_CHOICES))["items"]
    missing = {int(id) for id in needed if str(id).isdecimal()} - {each["id"] for each in found}
    for id in sorted(missing):
        with suppress(NotFound):
            found.append(await api.get(f"/v1/advertisers/{id}"))
    return found


async def show(request: Request) -> Response:
    """The advertisers."""
    return await _page(request, EMPTY, None)


async def create(request: Request) -> Response:
    """Make an advertiser."""
    form = await form_of(request)
    fields = {name: text for name in EMPTY if (text := form.get(name, "").strip())}
    try:
        made = await api_of(request).post("/v1/advertisers", fields)
    except ApiError as error:
        return await _page(request, EMPTY | form, error)
    notice = f"{made['name']} is there. Now create a campaign for it."
    return go_to(request, "/advertisers", notice)


async def act(request: Request) -> Response:
    """Pause or resume."""
    form = await form_of(request)
    id, action = request.path_params["id"], request.path_params["action"]
    try:
        done = await api_of(request).post(
            f"/v1/advertisers/{id}/{action}", version=version_of(form)
        )
    except ApiError as error:
        if error.code != STALE:
            raise
        return go_to(request, "/advertisers", CHANGED_MEANWHILE)
    return go_to(request, "/advertisers", f"{done['name']} is {done['status']}.")


async def _page(request: Request, form: dict[str, str], error: ApiError | None) -> Response:
    asked = request.query_params
    text = asked.get("text", "")
    found = await api_of(request).get(
        "/v1/advertisers", limit=PAGE, text=text, cursor=asked.get("cursor")
    )
    following = {"text": text, "cursor": found["next_cursor"]} if found["next_cursor"] else {}
    return page(
        request,
        "advertisers.html",
        "Advertisers",
        422 if error else 200,
        advertisers=found["items"],
        text=text,
        following=urlencode(following),
        form=form,
        problems=error.by_field() if error else {},
        may_write=session_of(request).may("campaigns:write"),
    )


ROUTES = [
    Route("/advertisers", show),
    Route("/advertisers", create, methods=["POST"]),
    Route("/advertisers/{id:int}/{action:str}", act, methods=["POST"]),
]
