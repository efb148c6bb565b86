"""Sign in with an API key, and out again."""

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from console.api import Api, ApiError, NotSignedIn
from console.context import api_of, console_of, page
from console.security import form_of
from console.sessions import COOKIE

UNKNOWN = "Copse does not know this key. It may be revoked, expired or incomplete."


async def show(request: Request) -> Response:
    """The form."""
    next_path = _next(request.query_params.get("next"))
    if request.scope["session"] is not None:
        return RedirectResponse(console_of(request).renderer.url(next_path), 303)
    ended = "ended" in request.query_params
    return page(request, "sign_in.html", "Sign in", ended=ended, error="", next=next_path)


async def sign_in(request: Request) -> Response:
    """Begin a session, if the API knows the key. A new session has a new id."""
    console = console_of(request)
    fields = await form_of(request) if request.scope["session"] is None else {}
    token, next_path = fields.get("key", "").strip(), _next(fields.get("next"))
    error, status = "", 401
    if not token.isascii() or not token.isprintable() or not token:
        error = UNKNOWN
    else:
        try:
            key = await Api(console.client, token).get("/v1/keys/current")
        except NotSignedIn:
            error = UNKNOWN
        except ApiError as refused:
            error, status = str(refused), refused.status
    if error:
        shown = {"ended": False, "error": error, "next": next_path}
        return page(request, "sign_in.html", "Sign in", status, **shown)
    console.sessions.end(request.scope["session_id"])
    id, _ = console.sessions.begin(token, key)
    response = RedirectResponse(console.renderer.url(next_path), 303)
    response.set_cookie(
        COOKIE,
        id,
        path=console.settings.root_path or "/",
        httponly=True,
        samesite="lax",
        secure=_is_https(request),
    )
    return response


async def check(request: Request) -> Response:
    """For `static/console.js`: whether the session, its key and the API are there."""
    await api_of(request).get("/v1/keys/current")
    return JSONResponse({})


async def sign_out(request: Request) -> Response:
    """End the session."""
    await form_of(request)
    console = console_of(request)
    console.sessions.end(request.scope["session_id"])
    response = RedirectResponse(console.renderer.url("/sign-in"), 303)
    response.delete_cookie(COOKIE, path=console.settings.root_path or "/")
    return response


def _next(path: str | None) -> str:
    """A path of the console, never another site."""
    is_ours = path and path.startswith("/") and not path.startswith(("//", "/\\"))
    return path if path and is_ours and path.isprintable() else "/campaigns"


def _is_https(request: Request) -> bool:
    return "https" in (request.url.scheme, request.headers.get("x-forwarded-proto"))


ROUTES = [
    Route("/sign-in", show),
    Route("/sign-in", sign_in, methods=["POST"]),
    Route("/session", check),
    Route("/sign-out", sign_out, methods=["POST"]),
]
