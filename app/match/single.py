"""`POST /v1/match`: one request, one answer."""

from time import perf_counter, time

from app.match.context import Handling
from app.match.deadline import check_waited, view_at
from app.match.matcher import answer as answer_from
from app.match.matcher import total_of
from app.match.moment import built_ins
from app.match.request import MatchRequest, read
from campaigns.feed.view import Place, View

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
    """Put one question to the index, and tell who watches; `size` is that of the body."""
    now = time()
    started = perf_counter()
    answered = answer_from(view, place, request, now, pointer)
    watching = handling.watching
    watching.matched(perf_counter() - started, total_of(answered))
    if request.log and watching.logs:
        moment = built_ins(now)
        watching.impression(ROUTE, request.attributes, moment, answered, place, now, size)
    return answered
