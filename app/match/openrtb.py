"""`POST /v1/openrtb`: a bid request, matches for each of its imps, or nothing at all.

What cannot be answered in time is answered with nothing too: an exchange takes that for "no bid",
and an error for a fault.
"""

from http import HTTPStatus
from time import perf_counter, time

from app.errors.http_errors import Refused, Shed
from app.errors.problems import ProblemItem
from app.match.context import Handling
from app.match.deadline import check_waited
from app.match.moment import built_ins
from app.openrtb import MalformedBidRequest, ask, parse
from app.openrtb import answer as answer_to
from app.openrtb.logged import log_attributes

ROUTE = "openrtb"


class MalformedBid(Refused):
    """The body is no bid request."""

    status = HTTPStatus.BAD_REQUEST

    def __init__(self, error: MalformedBidRequest) -> None:
        super().__init__(
            "This is not an OpenRTB bid request.",
            ProblemItem(pointer=error.pointer, code=error.code, detail=error.detail),
        )


async def answer(handling: Handling, body: bytes) -> bytes | None:
    """The answer to a bid request; None is no match for any imp."""
    path, watching, view = handling.path, handling.watching, handling.view
    try:
        request = parse(body, required_purposes=path.openrtb_purposes)
    except MalformedBidRequest as error:
        raise MalformedBid(error) from None
    try:
        waited = perf_counter() - handling.came
        check_waited(waited, request.deadline_ms, path.longest_wait)
    except Shed as shed:
        watching.shed(shed.reason)
        return None
    now = time()
    moment = built_ins(now)
    place = view.place
    started = perf_counter()
    question = ask(request, view, now, rates=dict(path.openrtb_rates))
    answered = answer_to(question, view, now, moment, path.openrtb_limit)
    seconds = (perf_counter() - started) / len(answered.parts)
    for imp, reason, part, total in zip(
        question.imps, answered.reasons, answered.parts, answered.totals, strict=True
    ):
        if reason is None or reason == "no_match":
            watching.matched(seconds, total)
        else:
            watching.no_match(reason)
        if not request.test:
            attributes = log_attributes(imp.event)
            watching.impression(ROUTE, attributes, moment, part, place, now, 0)
    return answered.body
