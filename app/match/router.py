"""The outermost application: it answers the match routes itself and passes the rest on.

    uvicorn ──▶ MatchRouter ──┬── POST /v1/match, …/batch, /v1/openrtb    no framework in between
                              └── everything else                         Authentication, FastAPI, …

The routing, middleware and models of a framework cost several times what a match does; so does a
task or a thread. FastAPI has the same routes for the OpenAPI page and for other methods
(`openapi.py`).

A plain `/v1/match` may take the fast path (`app/server/fast_path.py`): `fast_answer`, without ASGI.
All other requests take the normal path: `__call__`.
"""

import logging
from functools import lru_cache
from http import HTTPStatus
from time import perf_counter, time
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.errors.handlers import problem_bytes, unexpected_problem
from app.errors.http_errors import (
    HttpError,
    NotAllowed,
    NotReady,
    Overloaded,
    Shed,
    TooLarge,
    WrongMediaType,
)
from app.errors.problems import MEDIA_TYPE
from app.match import batch, openrtb, single
from app.match.compression import GZIP, SMALLEST, VARY, accepts_gzip, deflated, inflated
from app.match.context import Handler, MatchSettings, RequestContext
from app.match.deadline import queue_turn
from app.middleware import request_id
from app.middleware.access_log import AccessLog
from app.middleware.authentication import KnownKeys, find_key
from app.middleware.rate_limit import RateLimiter
from app.middleware.security_headers import NO_SNIFFING
from app.server.match_queue import MatchQueue
from app.server.request_heads import KnownHeads, RequestHead
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


class ClientDisconnected(Exception):
    """The client disconnected before its body was complete."""


class MatchRouter:
    """Answers the match routes; `app` answers everything else."""

    def __init__(
        self,
        app: ASGIApp,
        settings: MatchSettings,
        rate_limiter: RateLimiter | None = None,
        access_log: AccessLog | None = None,
    ) -> None:
        self.app = app
        self.access_log = access_log
        self.settings = settings
        self.rate_limiter = rate_limiter or RateLimiter()
        self._keys = KnownKeys()
        self.heads = KnownHeads(self._keys.knows)
        self.queue = MatchQueue(settings.longest_wait)
        self.routes = {path.encode(): route for path, (route, _) in HANDLERS.items()}

    def refusal(self, state: dict[str, Any], path: bytes, waited: float) -> bytes:
        """The body of the response to a request that the queue refuses; counts it. A bid request
        gets 204, which has none."""
        route, recorder = self.routes[path], state["recorder"]
        recorder.shed(Overloaded.reason)
        if route == openrtb.ROUTE:
            recorder.answered(route, HTTPStatus.NO_CONTENT, waited)
            return b""
        recorder.answered(route, HTTPStatus.SERVICE_UNAVAILABLE, waited)
        return _overloaded(round(1000 * waited))

    def fast_answer(
        self,
        state: dict[str, Any],
        head: RequestHead,
        body: bytes,
        arrived_at: float,
        request_id: bytes,
    ) -> bytes | None:
        """The answer to a plain match; None for a request that is refused or has to wait: it
        starts again on the normal path."""
        feed = state["feed"].follower
        view = feed.current
        if view is None:
            return None
        try:
            key = self._keys.find(view.keys, head.authorization, time())
            if SCOPE not in key.scopes or key.limits is not None or self.rate_limiter.is_on:
                return None
            context = RequestContext(arrived_at, view, feed, state["recorder"], self.settings)
            if request_id:
                context.request_id = request_id.decode("ascii")
            answer = single.fast_answer(context, body)
        except Exception:  # the normal path reports it
            return None
        if answer is not None:
            state["recorder"].answered("match", 200, perf_counter() - arrived_at)
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
        scope["match_route"] = scope["path"]
        arrived_at: float = scope.get("arrived_at") or perf_counter()
        recorder = scope["state"]["recorder"]
        headers = [_JSON]
        try:
            answer, more = await self._answer(scope, receive, handler, arrived_at)
            status, body = (200, answer) if answer is not None else (204, b"")
            headers += more
        except ClientDisconnected:
            return
        except HttpError as error:
            status, body = error.status, problem_bytes(error.problem())
            headers = [_PROBLEM, NO_SNIFFING]
            scope["request_id"] = scope.get("request_id") or request_id.make()
            headers += [(n.lower().encode(), v.encode()) for n, v in error.headers.items()]
            if isinstance(error, Shed):
                recorder.shed(error.reason)
        except Exception:
            scope["request_id"] = scope.get("request_id") or request_id.make()
            request_id.current.set(scope["request_id"])
            log.exception("a match failed")
            status, body = HTTPStatus.INTERNAL_SERVER_ERROR, problem_bytes(unexpected_problem())
            headers = [_PROBLEM, NO_SNIFFING]
        recorder.answered(route, status, perf_counter() - arrived_at)
        if self.access_log is not None and status >= HTTPStatus.BAD_REQUEST:
            request_id.current.set(scope["request_id"])
            self.access_log.write_match(scope, route, status, arrived_at)
        if status == HTTPStatus.NO_CONTENT:
            headers.remove(_JSON)
        else:
            headers.append((b"content-length", b"%d" % len(body)))
        if "request_id" in scope:
            headers.append((request_id.HEADER, scope["request_id"].encode()))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _answer(
        self, scope: Scope, receive: Receive, handler: Handler, arrived_at: float
    ) -> tuple[bytes | None, tuple[tuple[bytes, bytes], ...]]:
        """The body of the response, None for 204, and more of its headers."""
        state = scope["state"]
        follower = state["feed"].follower
        view = follower.current
        if view is None:
            raise NotReady(*state["loading"].progress)
        authorization = content_type = encoding = None
        accept = accepted = version = b""
        declared = 0
        for name, value in scope["headers"]:
            if name == b"authorization":
                # With two keys nobody knows which one counts: neither does.
                authorization = b"" if authorization else value
            elif name == b"content-type":
                content_type = value
            elif name == b"content-length" and value.isdigit():
                declared = int(value)
            elif name == b"accept-encoding":
                accepted = value
            elif name == b"content-encoding":
                encoding = value if encoding is None else encoding + b"," + value
            elif name == b"accept":
                accept = value
            elif name == openrtb.VERSION:
                version = value
            elif name == request_id.HEADER and (id := request_id.take(value)):
                scope["request_id"] = id
        if authorization is None:
            key = find_key(view.keys, None, time())
        else:
            key = self._keys.find(view.keys, authorization, time())
        scope["key_id"] = key.id
        if SCOPE not in key.scopes:
            raise NotAllowed(SCOPE)
        if content_type != b"application/json":
            _check_json(content_type)
        most = MAX_BODY_BYTES
        has_limits = key.limits is not None or self.rate_limiter.is_on
        if has_limits:
            most = self.rate_limiter.admit(key, arrived_at)
        if declared > most:
            raise TooLarge(most)
        message = await receive()
        body: bytes = message.get("body", b"")
        if message["type"] != "http.request" or message.get("more_body", False):
            body = await _rest(receive, message, most)
        elif len(body) > most:
            raise TooLarge(most)
        if encoding is not None:
            body = inflated(body, encoding, most)
        if "had_turn" not in scope:
            try:
                await queue_turn(self.queue)
            except Shed as shed:
                if handler is not openrtb.answer:
                    raise
                state["recorder"].shed(shed.reason)
                return None, ((openrtb.NO_BID, shed.reason.encode()),)
        context = RequestContext(
            arrived_at,
            view,
            follower,
            state["recorder"],
            self.settings,
            state.get("names"),
            state.get("operators"),
            request_id=scope.get("request_id", ""),
            accept=accept,
            openrtb_version=version,
            query=scope.get("query_string", b""),
        )
        answer = await handler(context, body)
        if has_limits:  # a request that was refused or shed counts only once
            self.rate_limiter.charge(key, context.request_count - 1)
        if accepted and answer is not None and len(answer) >= SMALLEST and accepts_gzip(accepted):
            return deflated(answer), (*context.headers, GZIP, VARY)
        return answer, context.headers


@lru_cache(maxsize=256)
def _overloaded(waited_ms: int) -> bytes:
    return problem_bytes(Overloaded(waited_ms / 1000).problem())


def _check_json(content_type: bytes | None) -> None:
    sent = None if content_type is None else content_type.decode("latin-1")
    kind = (sent or "").partition(";")[0].strip().lower()
    if kind != "application/json" and not kind.endswith("+json"):
        raise WrongMediaType(sent)


async def _rest(receive: Receive, message: Message, most: int) -> bytes:
    """The whole body; `message` is its first part."""
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
    raise ClientDisconnected
