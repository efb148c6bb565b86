"""The first thing that a request meets: the match routes are answered here, the rest goes on.

    uvicorn ──▶ FrontDoor ──┬── POST /v1/match, …/batch, /v1/openrtb    no framework in between
                            └── everything else                         Authentication, FastAPI, …

A framework's routing, middleware and models cost several times what a match does; so does a task
or a thread. The same routes stand in FastAPI for the OpenAPI page and for other methods, and lead
to the same functions (`routes.py`).
"""

import logging
from http import HTTPStatus
from time import perf_counter, time
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.errors.handlers import problem_bytes, unexpected_problem
from app.errors.http_errors import NotAllowed, NotReady, Refused, Shed, TooLarge, WrongMediaType
from app.errors.problems import MEDIA_TYPE
from app.match import batch, openrtb, single
from app.match.context import Handler, Handling
from app.match.hot_path import HotPath
from app.middleware import request_id
from app.middleware.authentication import KnownKeys, find_key
from app.middleware.body_limit import encoding_of
from app.middleware.rate_limit import Throttle
from app.middleware.security_headers import NO_SNIFFING
from app.server.request_heads import Head, KnownHeads
from campaigns.keys.model import MAX_BODY_BYTES

log = logging.getLogger(__name__)

SCOPE = "match"
HANDLERS: dict[str, tuple[str, Handler]] = {
    "/v1/match": ("match", single.answer),
    "/v1/match/batch": ("match_batch", batch.answer),
    "/v1/openrtb": ("openrtb", openrtb.answer),
}

_JSON = (b"content-type", b"application/json")
_PROBLEM = (b"content-type", MEDIA_TYPE.encode())


class Gone(Exception):
    """The client went away before its body was here."""


class FrontDoor:
    """The service as uvicorn sees it."""

    def __init__(self, app: ASGIApp, path: HotPath, throttle: Throttle | None = None) -> None:
        self.app = app
        self.path = path
        self.throttle = throttle or Throttle()
        self._keys = KnownKeys()
        self.heads = KnownHeads(self._keys.knows)

    def at_once(self, state: dict[str, Any], head: Head, body: bytes, came: float) -> bytes | None:
        """The answer to a plain match; None for everything that is refused, or has to wait: that
        goes the whole way, from the beginning."""
        feed = state["feed"].follower
        view = feed.current
        if view is None:
            return None
        try:
            key = self._keys.find(view.keys, head.authorization, time())
            if SCOPE not in key.scopes or key.limits is not None or self.throttle.is_on:
                return None
            handling = Handling(came, view, feed, state["watching"], self.path)
            answer = single.at_once(handling, body)
        except Exception:  # whatever it is, the whole way says so
            return None
        if answer is not None:
            state["watching"].answered("match", 200, perf_counter() - came)
        return answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        found = HANDLERS.get(scope["path"])
        if found is None:
            await self.app(scope, receive, send)
            return
        route, handler = found
        scope["hot_route"] = scope["path"]
        came: float = scope.get("came") or perf_counter()
        watching = scope["state"]["watching"]
        headers = [_JSON]
        try:
            answer = await self._answer(scope, receive, handler, came)
            status, body = (200, answer) if answer is not None else (204, b"")
        except Gone:
            return
        except Refused as refusal:
            if refusal.status is HTTPStatus.BAD_REQUEST:
                refusal = encoding_of(scope) or refusal
            status, body = refusal.status, problem_bytes(refusal.problem())
            headers = [_PROBLEM, NO_SNIFFING]
            scope["request_id"] = scope.get("request_id") or request_id.make()
            headers += [(n.lower().encode(), v.encode()) for n, v in refusal.headers.items()]
            if isinstance(refusal, Shed):
                watching.shed(refusal.reason)
        except Exception:
            scope["request_id"] = scope.get("request_id") or request_id.make()
            request_id.current.set(scope["request_id"])
            log.exception("a match failed")
            status, body = HTTPStatus.INTERNAL_SERVER_ERROR, problem_bytes(unexpected_problem())
            headers = [_PROBLEM, NO_SNIFFING]
        if status == HTTPStatus.NO_CONTENT:
            headers = []
        else:
            headers.append((b"content-length", b"%d" % len(body)))
        if "request_id" in scope:
            headers.append((request_id.HEADER, scope["request_id"].encode()))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})
        watching.answered(route, status, perf_counter() - came)

    async def _answer(
        self, scope: Scope, receive: Receive, handler: Handler, came: float
    ) -> bytes | None:
        state = scope["state"]
        follower = state["feed"].follower
        view = follower.current
        if view is None:
            raise NotReady(*state["loading"].so_far)
        authorization = content_type = None
        declared = 0
        for name, value in scope["headers"]:
            if name == b"authorization":
                # Two of them: which one would count?
                authorization = b"" if authorization else value
            elif name == b"content-type":
                content_type = value
            elif name == b"content-length" and value.isdigit():
                declared = int(value)
            elif name == request_id.HEADER and (id := request_id.take(value)):
                scope["request_id"] = id
        if authorization is None:
            key = find_key(view.keys, None, time())
        else:
            key = self._keys.find(view.keys, authorization, time())
        if SCOPE not in key.scopes:
            raise NotAllowed(SCOPE)
        if content_type != b"application/json":
            _check_json(content_type)
        most = MAX_BODY_BYTES
        has_limits = key.limits is not None or self.throttle.is_on
        if has_limits:
            most = self.throttle.admit(key, came)
        if declared > most:
            raise TooLarge(most)
        message = await receive()
        body: bytes = message.get("body", b"")
        if message["type"] != "http.request" or message.get("more_body", False):
            body = await _rest(receive, message, most)
        elif len(body) > most:
            raise TooLarge(most)
        handling = Handling(came, view, follower, state["watching"], self.path)
        answer = await handler(handling, body)
        if has_limits:  # what was refused, shed above all, has cost the key one request only
            self.throttle.charge(key, handling.asked - 1)
        return answer


def _check_json(content_type: bytes | None) -> None:
    sent = None if content_type is None else content_type.decode("latin-1")
    kind = (sent or "").partition(";")[0].strip().lower()
    if kind != "application/json" and not kind.endswith("+json"):
        raise WrongMediaType(sent)


async def _rest(receive: Receive, message: Message, most: int) -> bytes:
    """The whole body, of which a message was the first part."""
    parts: list[bytes] = []
    size = 0
    while message["type"] != "http.disconnect":
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > most:
            raise TooLarge(most)
        if not message.get("more_body", False):
            return b"".join(parts)
        message = await receive()
    raise Gone
