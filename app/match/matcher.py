"""A request answered from a view: eligible campaigns, best first, as bytes.

Eligible is what the view's index has (active campaigns; those of paused advertisers are muted), is
in its flight at this moment, is not excluded, and has a targeting that is true.
"""

import re
from functools import lru_cache

from app.match.moment import built_ins
from app.match.request import MatchRequest, refusal_of
from campaigns.catalogue.model import BLOCKED_CATEGORIES
from campaigns.feed.view import Place, View
from index import EventError


def answer(view: View, place: Place, request: MatchRequest, now: float, pointer: str = "") -> bytes:
    """`{"matches": […], "total": …, "epoch": …, "rev": …}`; `Invalid` if an attribute is wrong.

    `place` is the view's, read before: everything up to its rev is in the answer.
    """
    try:
        return view.index.top_answer(
            request.attributes,
            request.limit,
            now,
            builtins=_reserved(now),
            exclude=request.exclude,
            tail=_tail(place.epoch, place.rev),
        )
    except EventError as error:
        raise refusal_of(error, pointer) from None


_TOTAL = re.compile(rb'"total":([0-9]+)')


def total_of(answered: bytes) -> int:
    """The total in an answer: behind the matches, which have no such field."""
    found = _TOTAL.match(answered, answered.rindex(b'"total":'))
    return int(found[1]) if found else 0


@lru_cache(maxsize=4)
def _reserved_of(hour: int) -> dict[str, object]:
    # Nobody may send what a bid request forbids but a bid request.
    return {**built_ins(hour * 3600.0), BLOCKED_CATEGORIES: None}


def _reserved(now: float) -> dict[str, object]:
    return _reserved_of(int(now // 3600))


@lru_cache(maxsize=64)
def _tail(epoch: str, rev: int) -> bytes:
    return b',"epoch":"%s","rev":%d}' % (epoch.encode(), rev)
