"""The score of a campaign: its priority in the upper bits, its bid in the lower ones.

    63        53                                                     0
    ┌──────────┬─────────────────────────────────────────────────────┐
    │ priority │ bid in micros                                       │
    └──────────┴─────────────────────────────────────────────────────┘

So the best score has the highest priority, and among equal priorities the highest bid. A query may
set a floor for the bid. `score.rs` has the same layout; a test compares the two.
"""

BID_BITS = 53
MAX_BID_MICROS = (1 << BID_BITS) - 1
MAX_PRIORITY = (1 << 63 - BID_BITS) - 1


def score_of(priority: int, bid_micros: int) -> int:
    """The score of a priority and a bid."""
    return priority << BID_BITS | bid_micros


def priority_of(score: int) -> int:
    """The priority in a score."""
    return score >> BID_BITS


def bid_of(score: int) -> int:
    """The bid in a score, in micros."""
    return score & MAX_BID_MICROS
