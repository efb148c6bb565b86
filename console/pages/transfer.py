"""Import and export: files pass through the console to the API and back, while they arrive."""

from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from console.api import ApiError
from console.context import api_of, page, session_of
from console.pages.campaigns import STATUSES, advertisers_of
from console.security import CSRF_HEADER, check_csrf

KINDS = ("text/csv", "application/x-ndjson")


async def show(request: Request) -> Response:
    """The two forms."""
    api = api_of(request)
    return page(
        request,
        "transfer.html",
        "Import & export",
        advertisers=await advertisers_of(api),
        statuses=STATUSES,
        may_write=session_of(request).may("campaigns:write"),
    )


async def import_file(request: Request) -> Response:
    """Pass a file on to the API; its results come back line by line."""
    check_csrf(session_of(request), request.headers.get(CSRF_HEADER))
    kind = request.headers.get("content-type", "").partition(";")[0]
    if kind not in KINDS:
        raise ApiError(415, {"detail": "Choose a file of CSV or NDJSON."})
    dry_run = request.query_params.get("dry_run") == "true"
    # A browser sends the whole file before it reads, so the results wait until then.
    body = await request.body()
    results = _results(request, body, kind, dry_run)
    first = await anext(results, b"")  # an error becomes an error page, not half an answer

    async def lines() -> AsyncIterator[bytes]:
        yield first
        async for piece in results:
            yield piece

    return StreamingResponse(lines(), media_type=KINDS[1])


async def _results(request: Request, body: bytes, kind: str, dry_run: bool) -> AsyncIterator[bytes]:
    asked = {"dry_run": str(dry_run).lower()}
    headers = {"Content-Type": kind}
    stream = api_of(request).stream(
        "POST", "/v1/campaigns/import", params=asked, content=body, headers=headers
    )
    async with stream as response:
        async for piece in response.aiter_bytes():
            yield piece


async def export(request: Request) -> Response:
    """The campaigns that the filters choose, as a file."""
    asked = {
        name: value
        for name in ("format", "text", "status", "advertiser_id")
        if (value := request.query_params.get(name))
    }
    exported = await api_of(request).send("GET", "/v1/campaigns/export", params=asked)
    names = ("content-type", "content-disposition")
    return Response(exported.content, headers={name: exported.headers[name] for name in names})


ROUTES = [
    Route("/transfer", show),
    Route("/transfer/import", import_file, methods=["POST"]),
    Route("/transfer/export", export),
]
