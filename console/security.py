"""What every request passes: a session, a token against forged requests, and headers.

Plain ASGI. The pages have no inline script and no inline style, so the policy can forbid both;
nothing may frame them, and a form can be sent only to the console itself.
"""

import hmac
from http.cookies import SimpleCookie
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from console.sessions import COOKIE, Session, Sessions

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
FOREVER = "public, max-age=31536000, immutable"
"""For assets, whose path has the digest of their content."""

OPEN = ("/sign-in", "/static/", "/healthz")
"""Paths that need no session."""

ENDED = "Your session has ended. Sign in again."
CSRF_FIELD, CSRF_HEADER = "csrf", "x-csrf-token"
MOST_BYTES = 4 * 1024 * 1024
"""The most in the body of a request."""

FORM = "application/x-www-form-urlencoded"


class Security:
    """Puts the session into the scope, or leads to the sign-in page."""

    def __init__(self, app: ASGIApp, sessions: Sessions, root_path: str) -> None:
        self.app = app
        self.sessions = sessions
        self.root_path = root_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path = scope["path"]

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                is_asset = path.startswith("/static/") and message["status"] in (200, 304)
                headers["Cache-Control"] = FOREVER if is_asset else "no-store"
            await send(message)

        id = session_id(scope)
        session = scope["session"] = self.sessions.find(id)
        scope["session_id"] = id
        if refusal := self._refusal(scope, session):
            await refusal(scope, receive, guarded)
            return
        await self.app(scope, receive, guarded)

    def _refusal(self, scope: Scope, session: Session | None) -> Response | None:
        is_write = scope["method"] not in ("GET", "HEAD")
        if is_write and not _is_same_origin(Headers(scope=scope)):
            return PlainTextResponse("This request comes from another site.", 403)
        if session is None and not scope["path"].startswith(OPEN):
            if Headers(scope=scope).get("accept") == "application/json":
                return JSONResponse({"detail": ENDED}, 401)
            asked = {"ended": "1"} if session_id(scope) else {}
            if scope["method"] == "GET" and scope["path"] != "/":
                query = scope["query_string"].decode("ascii", "replace")
                asked["next"] = f"{scope['path']}?{query}" if query else scope["path"]
            more = f"?{urlencode(asked, safe='/')}" if asked else ""
            return RedirectResponse(f"{self.root_path}/sign-in{more}", 303)
        return None


def session_id(scope: Scope) -> str | None:
    """The id in the cookie of a request."""
    found = Headers(scope=scope).get("cookie")
    if not found:
        return None
    cookie = SimpleCookie(found).get(COOKIE)
    return cookie.value if cookie else None


def _is_same_origin(headers: Headers) -> bool:
    """Browsers send an origin with every write. A proxy may change the host: it then names its own
    in X-Forwarded-Host."""
    origin = headers.get("origin")
    if origin is None:
        return headers.get("sec-fetch-site", "same-origin") in ("same-origin", "none")
    hosts = {headers.get("host"), headers.get("x-forwarded-host")}
    return urlsplit(origin).netloc in hosts


class Forged(Exception):
    """A write without the token of its session."""


def check_csrf(session: Session, sent: str | None) -> None:
    """`Forged` unless the token is that of the session."""
    if not hmac.compare_digest((sent or "").encode(), session.csrf.encode()):
        raise Forged


class TooLarge(Exception):
    """A body above `MOST_BYTES`."""


async def body_of(request: Request) -> bytes:
    """The body of a request, of bounded size."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > MOST_BYTES:
            raise TooLarge
    return bytes(body)


async def sent_by_script(request: Request) -> bytes:
    """The body of a request that a script of the console has sent, with the token in a header."""
    session: Session = request.scope["session"]
    check_csrf(session, request.headers.get(CSRF_HEADER))
    return await body_of(request)


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form, whose token is checked if there is a session."""
    if request.headers.get("content-type", "").partition(";")[0] != FORM:
        raise Forged
    text = (await body_of(request)).decode("utf-8", "replace")
    fields = dict(parse_qsl(text, keep_blank_values=True, max_num_fields=100))
    session: Session | None = request.scope["session"]
    if session is not None:
        check_csrf(session, fields.pop(CSRF_FIELD, None))
    return fields
