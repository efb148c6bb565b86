"""What every request passes: a session, a token against forged requests, and headers.

Plain ASGI. The pages have no inline script and no inline style, so the policy can forbid both;
nothing may frame them, and a form can be sent only to the console itself.
"""

import hmac
from http.cookies import SimpleCookie
from urllib.parse import parse_qsl, quote, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
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
OPEN = ("/sign-in", "/static/", "/healthz")
"""Paths that need no session."""

CSRF_FIELD, CSRF_HEADER = "csrf", "x-csrf-token"
MOST_FORM_BYTES = 1024 * 1024
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
                if not path.startswith("/static/"):
                    headers["Cache-Control"] = "no-store"
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
                return PlainTextResponse("Your session has ended. Sign in again.", 401)
            asked = scope["path"] if scope["method"] == "GET" and scope["path"] != "/" else ""
            ended = "?ended=1" if session_id(scope) else ""
            more = f"{'&' if ended else '?'}next={quote(asked)}" if asked else ""
            return RedirectResponse(f"{self.root_path}/sign-in{ended}{more}", 303)
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


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form, whose token is checked if there is a session."""
    size = int(request.headers.get("content-length") or 0)
    kind = request.headers.get("content-type", "").partition(";")[0]
    if kind != FORM or size > MOST_FORM_BYTES:
        raise Forged
    text = (await request.body()).decode("utf-8", "replace")
    fields = dict(parse_qsl(text, keep_blank_values=True, max_num_fields=100))
    session: Session | None = request.scope["session"]
    if session is not None:
        check_csrf(session, fields.pop(CSRF_FIELD, None))
    return fields
