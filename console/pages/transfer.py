"""Import and export: files pass through the console to the API and back."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from console.context import api_of, page, session_of
from console.pages.advertisers import choices_of
from console.pages.campaigns import STATUSES
from console.security import sent_by_script


async def show(request: Request) -> Response:
    """The two forms."""
    api = api_of(request)
    return page(
        request,
        "transfer.html",
        "Import & export",
        advertisers=await choices_of(api),
        statuses=STATUSES,
        may_write=session_of(request).may("campaigns:write"),
    )


async def import_file(request: Request) -> Response:
    """Pass a piece of a file on to the API; the answer has a result for each line."""
    kind = request.headers.get("content-type", "")
    body = await sent_by_script(request)
    asked = {"dry_run": "true" if request.query_params.get("dry_run") == "true" else "false"}
    headers = {"Content-Type": kind}
    results = await api_of(request).send(
        "POST", "/v1/campaigns/import", params=asked, content=body, headers=headers
    )
    return Response(results.content, media_type=results.headers["content-type"])


async def export(request: Request) -> Response:
    """The campaigns that the filters choose, as a file, which passes through while it arrives."""
    asked = {
        name: value
        for name in ("format", "text", "status", "advertiser_id")
        if (value := request.query_params.get(name))
    }
    stack = AsyncExitStack()
    exported = await stack.enter_async_context(
        api_of(request).stream("GET", "/v1/campaigns/export", params=asked)
    )

    async def pieces() -> AsyncIterator[bytes]:
        async with stack:
            async for piece in exported.aiter_bytes():
                yield piece

    names = ("content-type", "content-disposition")
    return StreamingResponse(pieces(), headers={name: exported.headers[name] for name in names})


ROUTES = [
    Route("/transfer", show),
    Route("/transfer/import", import_file, methods=["POST"]),
    Route("/transfer/export", export),
]
