"""Security headers: browsers must not sniff, frame, run or leak anything. Pure ASGI.

A successful match does not have them: nobody opens it in a browser, and each header costs a
microsecond in the server.
"""

import base64
import hashlib
import re

from starlette.types import ASGIApp, Message, Receive, Scope, Send

NO_SNIFFING = (b"x-content-type-options", b"nosniff")
CONTENT_SECURITY_POLICY = "content-security-policy"

NOTHING = "default-src 'none'; frame-ancestors 'none'"

_ALWAYS = (NO_SNIFFING, (b"referrer-policy", b"no-referrer"))
_POLICY = CONTENT_SECURITY_POLICY.encode()

_INLINE = re.compile("<script>(.*?)</script>", re.DOTALL)


class SecurityHeaders:
    """Adds the headers; a page that needs more rights sets its own policy."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = list(message["headers"])
                names = {name for name, _ in headers}
                headers += [header for header in _ALWAYS if header[0] not in names]
                if _POLICY not in names:
                    headers.append((_POLICY, NOTHING.encode()))
                message["headers"] = headers
            await send(message)

        await self.app(scope, receive, with_headers)


def page_policy(html: str) -> str:
    """The policy of a page: scripts from this service, and the inline ones by their hashes.

    Inline styles are allowed, since Swagger UI uses them; its icons are `data:` URLs.
    """
    hashes = [
        base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        for script in _INLINE.findall(html)
    ]
    scripts = " ".join(["'self'", *(f"'sha256-{each}'" for each in hashes)])
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {scripts}",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data:",
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        )
    )
