"""The console as an ASGI application: its routes, and how an error becomes a page."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from console.api import ApiError, NotSignedIn, client_of
from console.context import Console
from console.pages import advertisers, campaigns, delivery, editor, operations, sign_in, transfer
from console.pages import why as why_page
from console.render import STATIC, Renderer
from console.security import ENDED, MOST_BYTES, Forged, Security, TooLarge
from console.sessions import Sessions
from console.settings import ConsoleSettings

FORGED = "This form is too old, or it does not come from the console. Open the page again."


def create_console(settings: ConsoleSettings) -> Starlette:
    """A new console."""
    sessions = Sessions(settings.session_minutes)
    renderer = Renderer(settings.root_path)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with client_of(settings.api_url) as client:
            app.state.console = Console(settings, sessions, renderer, client)
            yield

    return Starlette(
        routes=[
            Route("/", _home),
            Route("/healthz", lambda _: PlainTextResponse("ok")),
            *sign_in.ROUTES,
            *campaigns.ROUTES,
            *delivery.ROUTES,
            *advertisers.ROUTES,
            *editor.ROUTES,
            *why_page.ROUTES,
            *operations.ROUTES,
            *transfer.ROUTES,
            Mount("/static/{version:str}", StaticFiles(directory=STATIC)),
        ],
        middleware=[Middleware(Security, sessions=sessions, root_path=settings.root_path)],
        exception_handlers={
            ApiError: _api_error,
            Forged: _forged,
            TooLarge: _too_large,
            HTTPException: _http_error,
        },
        lifespan=lifespan,
    )


def _home(request: Request) -> Response:
    return RedirectResponse(_renderer(request).url("/campaigns"), 303)


def _renderer(request: Request) -> Renderer:
    console: Console = request.app.state.console
    return console.renderer


def _wants_json(request: Request) -> bool:
    """Whether a script of the console asks."""
    return request.headers.get("accept") == "application/json"


def _error(request: Request, status: int, title: str, detail: str) -> Response:
    if _wants_json(request):
        return JSONResponse({"title": title, "detail": detail}, status)
    again = ""
    if request.method == "GET" and status in (502, 503):
        again = f"?{request.url.query}"  # the same page
    shown = {"code": status, "detail": detail, "again": again}
    return _renderer(request).page(request, "error.html", title, status, **shown)


def _api_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)
    if isinstance(error, NotSignedIn):
        console: Console = request.app.state.console
        console.sessions.end(request.scope.get("session_id"))
        if _wants_json(request):
            return JSONResponse({"detail": ENDED}, 401)
        return RedirectResponse(console.renderer.url("/sign-in?ended=1"), 303)
    titles = {403: "Not allowed", 404: "Not found", 502: "Copse does not answer"}
    title = titles.get(error.status, "That did not work")
    details = [str(error), *(e["detail"] for e in error.errors if e["detail"] not in str(error))]
    return _error(request, error.status, title, " ".join(details))


def _forged(request: Request, _: Exception) -> Response:
    return _error(request, 403, "Not accepted", FORGED)


def _too_large(request: Request, _: Exception) -> Response:
    detail = f"This is more than {MOST_BYTES // 1024**2} MiB."
    return _error(request, 413, "Too large", detail)


def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    detail = "There is no such page." if error.status_code == 404 else str(error.detail)
    return _error(request, error.status_code, "Not found", detail)
