"""`POST /v1/openrtb`: the matches for each imp of a bid request, or a BidResponse, or 204.

A request that cannot be answered in time gets 204 as well: an exchange takes that for "no bid", and
an error for a fault.
"""

from dataclasses import replace
from random import choice
from time import perf_counter, time
from urllib.parse import parse_qs

import orjson

from app.errors.http_errors import HttpError, Shed
from app.errors.problems import item
from app.match.built_ins import built_ins
from app.match.context import RequestContext
from app.match.deadline import time_left
from app.observability.delivery.sample import SampledRequest
from app.openrtb import Answer, BidRequest, MalformedBidRequest, Question, ask, parse, response
from app.openrtb import answer as answer_to
from app.openrtb.answer import DEADLINE, NO_MATCH
from app.openrtb.logged import log_attributes
from app.operators.runtime import repeated
from campaigns.feed.view import View
from index import Query

ROUTE = "openrtb"

VERSION = b"x-openrtb-version"
OUR_VERSION = (VERSION, b"2.6")
NO_BID = b"x-copse-no-bid"
"""The header with the reason of a 204."""

BID_RESPONSE = b"application/vnd.openrtb+json"

LONGEST_ANSWER = 1.0
"""Seconds after which the rest of many imps is left out: all other requests wait meanwhile."""


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
    wanted = _Wanted(context)
    try:
        _check_version(context.openrtb_version)
        request = parse(body, required_purposes=settings.openrtb_purposes)
    except MalformedBidRequest as error:
        raise MalformedBid(error) from None
    try:
        waited = perf_counter() - context.arrived_at
        left = time_left(waited, request.deadline_ms, settings.longest_wait)
    except Shed as shed:
        recorder.shed(shed.reason)
        return wanted.nothing(request.id, shed.reason)
    now = time()
    builtins = built_ins(now)
    started = perf_counter()
    question = ask(request, view, now, settings.rates, settings.openrtb_table)
    asked_at = perf_counter()
    most = LONGEST_ANSWER if request.deadline_ms is None else min(left, LONGEST_ANSWER)
    answered = await _answered(context, question, view, now, builtins, left, started + most)
    seconds = (perf_counter() - asked_at) / len(answered.imps)
    _record(context, request, question, answered, seconds, now, builtins)
    if all(answered.reasons):
        return wanted.nothing(request.id, str(answered.reasons[0]))
    if wanted.bid_response:
        context.headers = (OUR_VERSION,)
        return response.bid_response(question, answered, view)
    ids = {match.id for imp in answered.imps for match in imp.matches}
    names = await context.names.of(ids, view, left) if context.names is not None else {}
    return response.matches(question, answered, view, names)


async def _answered(
    context: RequestContext,
    question: Question,
    view: View,
    now: float,
    builtins: dict[str, object],
    left: float,
    deadline: float,
) -> Answer:
    """The answer to a question, with the calls that it needs."""
    limit = context.settings.openrtb_limit
    if context.operators is None or not view.operators:
        return answer_to(question, view, now, builtins, limit, deadline)
    asking = context.operators.asking(view, left)
    answered = await repeated(
        asking,
        lambda: answer_to(
            question, view, now, builtins, limit, deadline, asking.ask, asking.results
        ),
    )
    if asking.is_degraded:
        context.recorder.degraded(ROUTE)
        return replace(answered, degraded=True)
    return answered


class _Wanted:
    """What the client wants to have: `?format=bidresponse` or the same by `Accept`; and with
    `?nbr=1` an empty BidResponse in place of 204."""

    def __init__(self, context: RequestContext) -> None:
        self._context = context
        query = parse_qs(context.query) if context.query else {}
        accepts = BID_RESPONSE in context.accept
        self.bid_response = accepts or query.get(b"format") == [b"bidresponse"]
        self.reason = self.bid_response and query.get(b"nbr") == [b"1"]

    def nothing(self, id: str | int, reason: str) -> bytes | None:
        """The answer without a match."""
        if self.reason:
            self._context.headers = (OUR_VERSION,)
            return response.no_bid_response(id, reason)
        self._context.headers = ((NO_BID, reason.encode()),)
        return None


def _check_version(sent: bytes) -> None:
    if sent and sent.strip().partition(b".")[0] != b"2":
        version = sent.decode("latin-1").strip()
        detail = f"OpenRTB {version} is not supported; send version 2.5 or 2.6"
        raise MalformedBidRequest("", "openrtb.version", detail)


def _record(
    context: RequestContext,
    request: BidRequest,
    question: Question,
    answered: Answer,
    seconds: float,
    now: float,
    builtins: dict[str, object],
) -> None:
    recorder = context.recorder
    for imp, of in zip(question.imps, answered.imps, strict=True):
        if of.reason in (None, NO_MATCH):
            recorder.matched(seconds, len(of.matches))
        else:
            recorder.no_match(str(of.reason))
        if request.test or not recorder.logs or of.reason == DEADLINE:
            continue
        ids = {**context.sent_ids, "auction_id": request.id, "imp_id": imp.id}
        events = [
            (each.event, found) for each, found in zip(imp.formats, of.by_format, strict=True)
        ]
        for event, found in events or [({}, ())]:
            matches = orjson.dumps({"matches": [{"campaign_id": match.id} for match in found]})
            logged = log_attributes(event)
            recorder.impression(ROUTE, logged, builtins, matches, answered.place, now, 0, ids)
    if request.ignored:
        recorder.ignored(request.ignored)
    if request.tolerated:
        recorder.tolerated(request.tolerated)
    delivery = recorder.delivery
    if delivery is not None and now >= delivery.due and not request.test:
        # With deals or seats an answer is not that of one query, so these are not sampled.
        pairs = zip(question.imps, answered.imps, strict=True)
        if asked := [(imp, of) for imp, of in pairs if imp.is_plain and of.by_format]:
            imp, of = choice(asked)
            each, best = choice(list(zip(imp.formats, of.by_format, strict=True)))
            every, limit = {**builtins, **question.builtins}, context.settings.openrtb_limit
            floor = imp.open.floor if imp.open is not None else 0
            query = Query(now, limit, False, question.exclude, floor, every)
            sampled = SampledRequest(each.event, query, [match.id for match in best])
            delivery.offer(sampled, now, ROUTE, log_attributes(each.event))
