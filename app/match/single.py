"""`POST /v1/match`: one request, one answer.

    body ── request.read (orjson) ──▶ attributes, a dictionary ── Index.ask ──▶ Matches ──▶ JSON

The fast path (`at_once`), the normal path (`answer`) and the batch all go this way. A match returns
active campaigns (those of paused advertisers are muted) that are in their flight, not excluded, and
whose targeting is true.
"""

from functools import lru_cache
from time import perf_counter, time

from app.match.context import Handling
from app.match.deadline import check_waited, view_at
from app.match.moment import built_ins
from app.match.request import MatchRequest, read, refusal_of
from campaigns.catalogue.model import BLOCKED_CATEGORIES
from campaigns.feed.view import Place, View
from index import EventError, Query

ROUTE = "match"


async def answer(handling: Handling, body: bytes) -> bytes:
    """The answer to a body."""
    request = read(body)
    longest = handling.path.longest_wait
    check_waited(perf_counter() - handling.came, request.tmax_ms, longest)
    view = handling.view
    if request.min_rev:
        left = longest if request.tmax_ms is None else request.tmax_ms / 1000
        view = await view_at(handling.follower, view, request.min_rev, left)
    return ask(handling, view, view.place, request, len(body))


def at_once(handling: Handling, body: bytes) -> bytes | None:
    """The answer to a body, unless it has to wait for a rev."""
    request = read(body)
    view = handling.view
    if request.min_rev > view.place.rev:
        return None
    longest = handling.path.longest_wait
    check_waited(perf_counter() - handling.came, request.tmax_ms, longest)
    return ask(handling, view, view.place, request, len(body))


def ask(
    handling: Handling,
    view: View,
    place: Place,
    request: MatchRequest,
    size: int,
    pointer: str = "",
) -> bytes:
    """Ask the index, and record the answer: `{"matches": […], "total": …, "epoch": …, "rev": …}`.

    `place` is the view's, read before: everything up to its rev is in the answer. `size` is the
    length of the body, `pointer` the place of the request in it. Raises `Invalid` if an attribute
    is wrong.
    """
    now = time()
    started = perf_counter()
    query = Query(now, request.limit, True, request.exclude, 0, _reserved(int(now // 3600)))
    try:
        matches = view.index.ask(request.attributes, query)
    except EventError as error:
        raise refusal_of(error, pointer) from None
    answered = matches.to_json(_tail(place.epoch, place.rev))
    watching = handling.watching
    watching.matched(perf_counter() - started, matches.total or 0)
    if request.log and watching.logs:
        moment = built_ins(now)
        watching.impression(ROUTE, request.attributes, moment, answered, place, now, size)
    return answered


@lru_cache(maxsize=4)
def _reserved(hour: int) -> dict[str, object]:
    # Only a bid request may name blocked categories.
    return {**built_ins(hour * 3600.0), BLOCKED_CATEGORIES: None}


@lru_cache(maxsize=64)
def _tail(epoch: str, rev: int) -> bytes:
    return b',"epoch":"%s","rev":%d}' % (epoch.encode(), rev)
