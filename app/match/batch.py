"""`POST /v1/match/batch`: several requests, answered from one rev; a bad one gets a problem."""

import asyncio
from time import perf_counter

from app.errors.handlers import problem_bytes
from app.errors.http_errors import HttpError
from app.match.context import RequestContext
from app.match.deadline import time_left, view_at
from app.match.request import InvalidRequest, MatchRequest, check, invalid, read_json
from app.match.single import ask_with_calls, completed
from campaigns.feed.view import Place, View

MAX_REQUESTS = 100
TURN = 0.005
"""Seconds after which other requests get a turn."""


async def answer(context: RequestContext, body: bytes) -> bytes:
    """`{"responses": […]}`, one for each of the `requests`."""
    sent = read_json(body)
    if type(sent) is not dict or type(sent.get("requests")) is not list or len(sent) > 1:
        raise invalid("/requests", "type.list", 'expected {"requests": […]}')
    if not 1 <= len(sent["requests"]) <= MAX_REQUESTS:
        raise invalid("/requests", "list.length", f"a batch has 1 to {MAX_REQUESTS} requests")
    context.request_count = len(sent["requests"])
    requests = [_read(each, f"/requests/{place}") for place, each in enumerate(sent["requests"])]
    good = [request for request in requests if isinstance(request, MatchRequest)]
    shortest = min((each.tmax_ms for each in good if each.tmax_ms is not None), default=None)
    waited = perf_counter() - context.arrived_at
    left = time_left(waited, shortest, context.settings.longest_wait)
    rev = max((each.min_rev for each in good), default=0)
    view = await view_at(context.follower, context.view, rev, left)
    place = view.place
    answers: list[bytes] = []
    share = len(body) // len(requests)
    until = perf_counter() + left
    pause = perf_counter() + TURN
    for n, request in enumerate(requests):
        answered = await _answer(context, view, place, request, n, share, until - perf_counter())
        if isinstance(request, MatchRequest) and request.fields and context.names is not None:
            answered = await context.names.add_to(answered, request.fields, view, left)
        answers.append(answered)
        if perf_counter() > pause:
            await asyncio.sleep(0)
            pause = perf_counter() + TURN
    return b'{"responses":[' + b",".join(answers) + b"]}"


def _read(sent: object, pointer: str) -> MatchRequest | HttpError:
    try:
        return check(sent, pointer)
    except HttpError as refusal:
        return refusal


async def _answer(
    context: RequestContext,
    view: View,
    place: Place,
    request: MatchRequest | HttpError,
    n: int,
    size: int,
    left: float,
) -> bytes:
    if isinstance(request, InvalidRequest):
        request = completed(request, view, f"/requests/{n}")
    elif isinstance(request, MatchRequest):
        try:
            pointer = f"/requests/{n}"
            return await ask_with_calls(context, view, place, request, size, left, pointer)
        except HttpError as refusal:
            request = refusal
    return problem_bytes(request.problem())
