"""The order of campaigns: higher priority first, then the higher bid, then the lower id.

The index knows one score; priority and bid are its upper and its lower bits:

    63        53                                                     0
    ┌──────────┬─────────────────────────────────────────────────────┐
    │ priority │ bid in micros                                       │
    └──────────┴─────────────────────────────────────────────────────┘
"""

BID_BITS = 53
MAX_PRIORITY = 1023
MAX_BID_MICROS = 2**BID_BITS - 1


def score_of(priority: int, bid_micros: int) -> int:
    """The score of a campaign in the index."""
    return priority << BID_BITS | bid_micros


def of_score(score: int) -> tuple[int, int]:
    """The priority and the bid that a score was made of."""
    return score >> BID_BITS, score & MAX_BID_MICROS
