"""`POST /v1/match`: one request, one answer.

    body ── request.read (orjson) ──▶ attributes, a dictionary ── Index.ask ──▶ Matches ──▶ JSON

The fast path (`fast_answer`), the normal path (`answer`) and the batch all do this. A match returns
active campaigns (those of paused advertisers are muted) that are in their flight, not excluded,
whose targeting is true, and whose bid is at least `imp.floor_micros`, if that is sent.
"""

from functools import lru_cache
from time import perf_counter, time
from typing import NamedTuple

import orjson

from app.errors.http_errors import Invalid
from app.match.attributes import WRONG_ATTRIBUTES, Ignored, ignored, wrong_attributes
from app.match.built_ins import built_ins
from app.match.context import RequestContext
from app.match.deadline import time_left, view_at
from app.match.request import InvalidRequest, MatchRequest, read
from app.observability.delivery.sample import SampledRequest
from campaigns.catalogue.model import BLOCKED_CATEGORIES, FLOOR, floor_of
from campaigns.feed.view import Place, View
from index import EventError, Matches, Query

ROUTE = "match"


async def answer(context: RequestContext, body: bytes) -> bytes:
    """The answer to a body, on the normal path."""
    view = context.view
    try:
        request = read(body)
    except InvalidRequest as error:
        raise completed(error, view) from None
    waited = perf_counter() - context.arrived_at
    left = time_left(waited, request.tmax_ms, context.settings.longest_wait)
    if request.min_rev > view.place.rev:
        view = await view_at(context.follower, view, request.min_rev, left)
    answered = await ask_with_calls(context, view, view.place, request, len(body), left)
    if request.fields and context.names is not None:
        return await context.names.add_to(answered, request.fields, view, left)
    return answered


def fast_answer(context: RequestContext, body: bytes) -> bytes | None:
    """The answer to a body, on the fast path; None if it must wait for a rev or for fields.
    Raises `NeedsCalls` if it must wait for operators."""
    request = read(body)
    view = context.view
    if request.min_rev > view.place.rev or request.fields:
        return None
    waited = perf_counter() - context.arrived_at
    time_left(waited, request.tmax_ms, context.settings.longest_wait)
    return ask(context, view, view.place, request, len(body))


class NeedsCalls(Exception):
    """Operators have to be called before a query can be answered."""

    def __init__(self, query: Query) -> None:
        super().__init__()
        self.query = query


async def ask_with_calls(
    context: RequestContext,
    view: View,
    place: Place,
    request: MatchRequest,
    size: int,
    left: float,
    pointer: str = "",
) -> bytes:
    """As `ask`, and call operators where they decide, within the seconds left."""
    try:
        return ask(context, view, place, request, size, pointer)
    except NeedsCalls as needs:
        if context.operators is None:
            found, degraded = view.index.ask(request.attributes, needs.query), True
        else:
            asking = context.operators.asking(view, left)
            found = await asking.settle(request.attributes, needs.query)
            degraded = asking.is_degraded
        settled = Settled(needs.query, found, degraded)
        return ask(context, view, place, request, size, pointer, settled)


class Settled(NamedTuple):
    """The matches of a query after all calls."""

    query: Query
    matches: Matches
    degraded: bool


def ask(
    context: RequestContext,
    view: View,
    place: Place,
    request: MatchRequest,
    size: int,
    pointer: str = "",
    settled: Settled | None = None,
) -> bytes:
    """Ask the index, and record the answer: `{"matches": […], "epoch": …, "rev": …}`, with
    the `total` if the request asks for it.

    `place` is the view's, read before: everything up to its rev is in the answer. `size` is the
    length of the body, `pointer` the place of the request in it. Raises `Invalid` if an attribute
    is not valid, `NeedsCalls` if matches depend on operators, unless they are `settled`.
    """
    strict = request.strict
    if strict is None:
        strict = context.settings.strict
    if strict:
        _refuse_unknown(request, view, pointer)
    now = time()
    tail = _tail(place.epoch, place.rev)
    if settled is not None and settled.degraded:
        tail = b',"degraded":true' + tail
        context.recorder.degraded(ROUTE)
    if strict is False:
        known = ignored(request.attributes, view.index.schema, view.catalogue)
        tail = _reported(known) + tail
    if settled is None:
        builtins = reserved(int(now // 3600))
        named = FLOOR in request.attributes
        floor = floor_of(request.attributes, view.catalogue) if named else 0
        query = Query(now, request.limit, request.total, request.exclude, floor, builtins)
        started = perf_counter()
        try:
            matches = view.index.candidates(request.attributes, query)
        except EventError:
            # The index stops at the first kind of error.
            schema = view.index.schema
            items = wrong_attributes(request.attributes, pointer, schema)
            raise Invalid(WRONG_ATTRIBUTES, *items) from None
        if matches.pending:
            raise NeedsCalls(query)
    else:
        query, matches, _ = settled
        started = perf_counter()
    answered = matches.to_json(tail)
    recorder = context.recorder
    recorder.matched(perf_counter() - started, len(matches))
    delivery = recorder.delivery
    if delivery is not None and now >= delivery.due and request.log:
        sampled = SampledRequest(request.attributes, query, matches.ids)
        delivery.offer(sampled, now, ROUTE, request.attributes)
    if request.log and recorder.logs:
        attributes, builtins = request.attributes, built_ins(now)
        ids = context.sent_ids
        recorder.impression(ROUTE, attributes, builtins, answered, place, now, size, ids)
    return answered


def completed(error: InvalidRequest, view: View, pointer: str = "") -> Invalid:
    """The error with what is wrong with the attributes, too."""
    items = wrong_attributes(error.attributes, pointer, view.index.schema)
    return Invalid(error.detail, *error.errors, *items)


def _refuse_unknown(request: MatchRequest, view: View, pointer: str) -> None:
    if any(name not in view.catalogue for name in request.attributes):
        schema = view.index.schema
        items = wrong_attributes(request.attributes, pointer, schema, view.catalogue)
        raise Invalid(WRONG_ATTRIBUTES, *items)


def _reported(ignored: Ignored) -> bytes:
    return b',"ignored":%b,"hints":%b' % (orjson.dumps(ignored.names), orjson.dumps(ignored.hints))


@lru_cache(maxsize=4)
def reserved(hour: int) -> dict[str, object]:
    """The built-in attributes in an hour since 1970. A match cannot send them; only a bid request
    may name blocked categories."""
    return {**built_ins(hour * 3600.0), BLOCKED_CATEGORIES: None}


@lru_cache(maxsize=64)
def _tail(epoch: str, rev: int) -> bytes:
    return b',"epoch":"%s","rev":%d}' % (epoch.encode(), rev)
