"""`POST /v1/match`: one request, one answer.

    body ── request.read (orjson) ──▶ attributes, a dictionary ── Index.ask ──▶ Matches ──▶ JSON

The fast path (`fast_answer`), the normal path (`answer`) and the batch all do this. A match returns
active campaigns (those of paused advertisers are muted) that are in their flight, not excluded, and
whose targeting is true.
"""

from functools import lru_cache
from time import perf_counter, time

from app.match.built_ins import built_ins
from app.match.context import RequestContext
from app.match.deadline import time_left, view_at
from app.match.request import MatchRequest, read, refusal_of
from campaigns.catalogue.model import BLOCKED_CATEGORIES
from campaigns.feed.view import Place, View
from index import EventError, Query

ROUTE = "match"


async def answer(context: RequestContext, body: bytes) -> bytes:
    """The answer to a body, on the normal path."""
    request = read(body)
    waited = perf_counter() - context.arrived_at
    left = time_left(waited, request.tmax_ms, context.settings.longest_wait)
    view = context.view
    if request.min_rev > view.place.rev:
        view = await view_at(context.follower, view, request.min_rev, left)
    return ask(context, view, view.place, request, len(body))


def fast_answer(context: RequestContext, body: bytes) -> bytes | None:
    """The answer to a body, on the fast path; None if it must wait for a rev."""
    request = read(body)
    view = context.view
    if request.min_rev > view.place.rev:
        return None
    waited = perf_counter() - context.arrived_at
    time_left(waited, request.tmax_ms, context.settings.longest_wait)
    return ask(context, view, view.place, request, len(body))


def ask(
    context: RequestContext,
    view: View,
    place: Place,
    request: MatchRequest,
    size: int,
    pointer: str = "",
) -> bytes:
    """Ask the index, and record the answer: `{"matches": […], "total": …, "epoch": …, "rev": …}`.

    `place` is the view's, read before: everything up to its rev is in the answer. `size` is the
    length of the body, `pointer` the place of the request in it. Raises `Invalid` if an attribute
    is not valid.
    """
    now = time()
    started = perf_counter()
    query = Query(now, request.limit, True, request.exclude, 0, _reserved(int(now // 3600)))
    try:
        matches = view.index.ask(request.attributes, query)
    except EventError as error:
        raise refusal_of(error, pointer) from None
    answered = matches.to_json(_tail(place.epoch, place.rev))
    recorder = context.recorder
    recorder.matched(perf_counter() - started, matches.total or 0)
    if request.log and recorder.logs:
        attributes, builtins = request.attributes, built_ins(now)
        recorder.impression(ROUTE, attributes, builtins, answered, place, now, size)
    return answered


@lru_cache(maxsize=4)
def _reserved(hour: int) -> dict[str, object]:
    # Only a bid request may name blocked categories.
    return {**built_ins(hour * 3600.0), BLOCKED_CATEGORIES: None}


@lru_cache(maxsize=64)
def _tail(epoch: str, rev: int) -> bytes:
    return b',"epoch":"%s","rev":%d}' % (epoch.encode(), rev)
