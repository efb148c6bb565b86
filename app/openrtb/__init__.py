"""OpenRTB: from a bid request to questions for the index, and from its answers to one answer.

    body ─parse─▶ BidRequest ─ask─▶ Question: an event per imp ─answer─▶ matches per imp, or nothing
           │                   │
           │                   └── table.py: which field becomes which attribute
           └── privacy.py: what may not be used is gone before anything else looks

It knows no web framework. `docs/openrtb.md` is the guide.
"""

from app.openrtb.answer import Answer, answer
from app.openrtb.question import Question, ask
from app.openrtb.request import BidRequest, MalformedBidRequest, parse

__all__ = ["Answer", "BidRequest", "MalformedBidRequest", "Question", "answer", "ask", "parse"]
