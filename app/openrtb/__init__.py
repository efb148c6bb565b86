"""OpenRTB: from a bid request to questions for the index, and from their answers to a response.

    body ─parse─▶ BidRequest ─ask─▶ Question: an event per imp ─answer─▶ matches per imp, or none
           │                   │
           │                   └── table.py: which field becomes which attribute
           └── privacy.py: removes first what may not be used

It does not depend on the web framework. See `docs/openrtb.md`.
"""

from app.openrtb.answer import Answer, answer
from app.openrtb.question import Question, ask
from app.openrtb.request import BidRequest, MalformedBidRequest, parse

__all__ = ["Answer", "BidRequest", "MalformedBidRequest", "Question", "answer", "ask", "parse"]
