"""Counts the answers of every route but the match routes, which count their own. Pure ASGI."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

UNROUTED = "none"
"""For requests that reach no route: refused before (401, 413, 429), or to a path that has none."""


def route_of(scope: Scope) -> str:
    """The name of a request's route, which is its `operationId` in the OpenAPI document. A path
    would not do: it contains ids, or anything that a client makes up."""
    return getattr(scope.get("route"), "name", None) or UNROUTED


class RequestCounts:
    """Counts each answer by route and status. It is outside of everything that can answer, the
    handler of unexpected errors included."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        registry = scope["state"]["recorder"].registry

        async def send_and_count(message: Message) -> None:
            if message["type"] == "http.response.start":
                status = str(int(message["status"]))
                registry.counter("copse_requests_total", route_of(scope), status).add()
            await send(message)

        await self.app(scope, receive, send_and_count)
