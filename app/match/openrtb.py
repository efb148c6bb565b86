"""`POST /v1/openrtb`: the matches for each imp of a bid request, or 204.

A request that cannot be answered in time gets 204 as well: an exchange takes that for "no bid", and
an error for a fault.
"""

from time import perf_counter, time

from app.errors.http_errors import HttpError, Shed
from app.errors.problems import item
from app.match.built_ins import built_ins
from app.match.context import RequestContext
from app.match.deadline import time_left
from app.openrtb import MalformedBidRequest, ask, parse
from app.openrtb import answer as answer_to
from app.openrtb.logged import log_attributes

ROUTE = "openrtb"


class MalformedBid(HttpError):
    """The body is not a bid request."""

    def __init__(self, error: MalformedBidRequest) -> None:
        super().__init__(
            "This is not an OpenRTB bid request.",
            item(error.pointer, error.code, error.detail),
        )


async def answer(context: RequestContext, body: bytes) -> bytes | None:
    """The answer to a bid request; None if no imp has a match."""
    settings, recorder, view = context.settings, context.recorder, context.view
    try:
        request = parse(body, required_purposes=settings.openrtb_purposes)
    except MalformedBidRequest as error:
        raise MalformedBid(error) from None
    try:
        waited = perf_counter() - context.arrived_at
        time_left(waited, request.deadline_ms, settings.longest_wait)
    except Shed as shed:
        recorder.shed(shed.reason)
        return None
    now = time()
    builtins = built_ins(now)
    place = view.place
    started = perf_counter()
    question = ask(request, view, now, rates=dict(settings.openrtb_rates))
    answered = answer_to(question, view, now, builtins, settings.openrtb_limit)
    seconds = (perf_counter() - started) / len(answered.parts)
    for imp, reason, part, count in zip(
        question.imps, answered.reasons, answered.parts, answered.counts, strict=True
    ):
        if reason is None or reason == "no_match":
            recorder.matched(seconds, count)
        else:
            recorder.no_match(reason)
        if not request.test:
            attributes = log_attributes(imp.event)
            recorder.impression(ROUTE, attributes, builtins, part, place, now, 0)
    if request.ignored:
        recorder.ignored(request.ignored)
    return answered.body
