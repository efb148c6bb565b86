"""OpenRTB: from a bid request to questions for the index, and from their answers to a response.

    body ─parse─▶ BidRequest ─ask─▶ Question ─answer─▶ Answer: matches per imp ─response─▶ bytes
           │                   │               │
           │                   │               └── offers.py: in the open, or by which deal
           │                   └── table.py: which field becomes which attribute, by format
           └── privacy.py: removes first what may not be used

It does not depend on the web framework. See `docs/openrtb.md`.
"""

from app.openrtb.answer import Answer, answer
from app.openrtb.question import Question, ask
from app.openrtb.request import BidRequest, MalformedBidRequest, parse

__all__ = ["Answer", "BidRequest", "MalformedBidRequest", "Question", "answer", "ask", "parse"]
