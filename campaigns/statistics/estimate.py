"""From counts in a sample to requests a day, with bounds for a future day.

Three things make the number uncertain, and the bounds include all of them:

    sampling    the sample is finite: Wilson's interval of the share, with weights by Kish's
                effective size; no hit at all leaves the rule of three, 3 / n, as its upper bound
    the day     days differ: the spread between the days of the window, beyond what sampling
                explains, and at least the spread of their total traffic
    chance      even between two equal days the counts differ, by Poisson's law: a hundred requests
                a day are rarely exactly a hundred

A few days say little about the spread between days, so the observed spread is averaged with an
`ASSUMED_SPREAD`, which has the weight of `ASSUMED_DAYS`; with one day there is nothing else. This
only makes the bounds wider: a larger observed spread is used as it is. Student's t has the degrees
of freedom of both together. The bounds should hold for 95 of 100 days.

All three are combined on a logarithmic scale: counts are not negative, and their errors multiply.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

ENOUGH_HITS = 30
"""With fewer hits the estimate is unreliable; the bounds are still given."""

RULE_OF_THREE = 3.0
ASSUMED_SPREAD = 0.1
ASSUMED_DAYS = 4

_Z = 1.96
_T = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16)
"""Student's t for 95%, from one degree of freedom on."""

_T_OF_MORE = 2.145


@dataclass(slots=True)
class Sums:
    """Rows of one day: their number, the sum of their weights, and of the squared weights."""

    count: int = 0
    weight: float = 0.0
    squares: float = 0.0

    def add(self, weight: float) -> None:
        self.count += 1
        self.weight += weight
        self.squares += weight * weight

    @property
    def effective(self) -> float:
        """Kish's effective size: the number of equally weighted rows that say as much."""
        return self.weight * self.weight / self.squares if self.squares else 0.0


Days = Mapping[str, Sums]
"""Sums by day, as in `2026-11-16`."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Requests a day, with bounds. `spread` is the relative spread between days."""

    requests: float
    low: float
    high: float
    hits: int
    share: float
    spread: float

    @property
    def insufficient(self) -> bool:
        """Whether there are too few hits for a reliable estimate."""
        return self.hits < ENOUGH_HITS


def estimate(document: Mapping[str, Any], asked: Days, hit: Days) -> Estimate:
    """Requests a day, from the matched requests and the hits among them, both by day; `document`
    has the requests of each day. A day without hits may be left out."""
    by_day: Mapping[str, float] = document["requests_by_day"]
    every, hits = _all(asked), _all(hit)
    mean_requests = sum(by_day.values()) / len(by_day)
    counted = {day: (sums, hit.get(day, Sums())) for day, sums in asked.items() if sums.count}
    spread, width = _spread(by_day, counted)
    size = every.effective
    if not hits.count or not size:
        high = mean_requests * (min(1.0, RULE_OF_THREE / size) if size else 1.0)
        return Estimate(0.0, 0.0, min(high * math.exp(width), mean_requests), 0, 0.0, spread)
    share = hits.weight / every.weight
    middle = _mean(by_day, counted, share)
    low, high = _wilson(share, size)
    chance = _Z / math.sqrt(max(1.0, middle))
    return Estimate(
        middle,
        middle * math.exp(-math.hypot(math.log(share / low), width, chance)),
        middle * math.exp(math.hypot(math.log(high / share), width, chance)),
        hits.count,
        share,
        spread,
    )


Counted = Mapping[str, tuple[Sums, Sums]]
"""For each day with rows: the matched requests, and the hits among them."""


def _mean(by_day: Mapping[str, float], counted: Counted, share: float) -> float:
    """The mean over the days; a day without rows in the sample has the mean share."""
    total = 0.0
    for day, requests in by_day.items():
        if day in counted:
            every, hits = counted[day]
            total += requests * hits.weight / every.weight
        else:
            total += requests * share
    return total / len(by_day)


def _spread(by_day: Mapping[str, float], counted: Counted) -> tuple[float, float]:
    """The relative spread between days, and the width of the bounds for it."""
    known = len(by_day) - 1
    freedom = ASSUMED_DAYS + known
    seen = 0.0
    if known:
        of_traffic = _relative_variance(list(by_day.values()))
        seen = max(of_traffic, _beyond_sampling(by_day, counted))
    weighed = (ASSUMED_DAYS * ASSUMED_SPREAD**2 + known * seen) / freedom
    spread = math.sqrt(max(seen, weighed))
    t = _T[freedom - 1] if freedom <= len(_T) else _T_OF_MORE
    return spread, t * spread * math.sqrt(1 + 1 / len(by_day))


def _beyond_sampling(by_day: Mapping[str, float], counted: Counted) -> float:
    """The relative variance of the days' hits, minus the variance that sampling alone would give
    equal days."""
    daily, noise = [], 0.0
    for day, (every, hits) in counted.items():
        daily.append(by_day.get(day, 0.0) * hits.weight / every.weight)
        noise += daily[-1] ** 2 / max(1.0, hits.effective)
    mean = sum(daily) / len(daily) if daily else 0.0
    if len(daily) < 2 or not mean:
        return 0.0
    return max(0.0, _relative_variance(daily) - noise / len(daily) / mean**2)


def _relative_variance(numbers: list[float]) -> float:
    mean = sum(numbers) / len(numbers)
    if not mean:
        return 0.0
    return sum((number - mean) ** 2 for number in numbers) / (len(numbers) - 1) / mean**2


def _wilson(share: float, size: float) -> tuple[float, float]:
    """Wilson's interval of a share that is not zero."""
    z = _Z * _Z / size
    middle = (share + z / 2) / (1 + z)
    around = _Z * math.sqrt(share * (1 - share) / size + z / size / 4) / (1 + z)
    # With a share near 0 or 1, rounding must not put the share outside.
    return max(min(middle - around, share), share * 1e-9), max(min(middle + around, 1.0), share)


def _all(days: Days) -> Sums:
    whole = Sums()
    for sums in days.values():
        whole.count += sums.count
        whole.weight += sums.weight
        whole.squares += sums.squares
    return whole
