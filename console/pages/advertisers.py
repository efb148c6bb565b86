"""Advertisers: the list, a new one, pause and resume."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from console.api import ApiError
from console.context import api_of, go_to, page, session_of
from console.security import form_of


async def show(request: Request) -> Response:
    """The advertisers."""
    return await _page(request, {"name": "", "domain": ""}, None)


async def create(request: Request) -> Response:
    """Make an advertiser."""
    form = await form_of(request)
    fields = {name: text for name in ("name", "domain") if (text := form.get(name, "").strip())}
    try:
        made = await api_of(request).post("/v1/advertisers", fields)
    except ApiError as error:
        return await _page(request, {"name": "", "domain": ""} | form, error)
    notice = f"{made['name']} is there. Now create a campaign for it."
    return go_to(request, "/advertisers", notice)


async def act(request: Request) -> Response:
    """Pause or resume."""
    form = await form_of(request)
    id, action = request.path_params["id"], request.path_params["action"]
    done = await api_of(request).post(
        f"/v1/advertisers/{id}/{action}", version=int(form.get("version") or 0)
    )
    return go_to(request, "/advertisers", f"{done['name']} is {done['status']}.")


async def _page(request: Request, form: dict[str, str], error: ApiError | None) -> Response:
    found = await api_of(request).get("/v1/advertisers", limit=1000)
    return page(
        request,
        "advertisers.html",
        "Advertisers",
        422 if error else 200,
        advertisers=found["items"],
        form=form,
        problems=error.by_field() if error else {},
        may_write=session_of(request).may("campaigns:write"),
    )


ROUTES = [
    Route("/advertisers", show),
    Route("/advertisers", create, methods=["POST"]),
    Route("/advertisers/{id:int}/{action:str}", act, methods=["POST"]),
]
