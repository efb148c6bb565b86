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

Where there are at least two weekend days and two others, the two kinds are estimated apart, with
one spread around their means, and the bounds hold for either: a weekend that is always quieter is
not taken for chance.

All three are combined on a logarithmic scale: counts are not negative, and their errors multiply.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

ENOUGH_HITS = 30
"""With fewer hits the estimate is unreliable; the bounds are still given."""

RULE_OF_THREE = 3.0
ASSUMED_SPREAD = 0.2
ASSUMED_DAYS = 4
DAYS_OF_A_KIND = 2
"""How many days of each kind are enough to estimate weekdays and weekends apart."""

_Z = 1.96
_T = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16)
"""Student's t for 95%, from one degree of freedom on."""

_T_OF_MORE = 2.145
_SATURDAY = 5


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
    counted = {day: (sums, hit.get(day, Sums())) for day, sums in asked.items() if sums.count}
    kinds = _kinds(by_day)
    spread, width = _spread(by_day, counted, kinds)
    parts = [_estimate(by_day, counted, kind, spread, width) for kind in kinds]
    if len(parts) == 1:
        return parts[0]
    whole = _estimate(by_day, counted, list(by_day), spread, width)
    return replace(
        whole, low=min(part.low for part in parts), high=max(part.high for part in parts)
    )


def unknown(document: Mapping[str, Any]) -> Estimate:
    """Where nothing is known: none to all of the requests."""
    by_day: Mapping[str, float] = document["requests_by_day"]
    return Estimate(0.0, 0.0, max(by_day.values()), 0, 0.0, 0.0)


def _kinds(days: Iterable[str]) -> list[list[str]]:
    """Weekdays and weekend days, or all of them in one where there are too few."""
    kinds: tuple[list[str], list[str]] = [], []
    for day in days:
        kinds[date.fromisoformat(day).weekday() >= _SATURDAY].append(day)
    if min(map(len, kinds)) < DAYS_OF_A_KIND:
        return [kinds[0] + kinds[1]]
    return list(kinds)


def _estimate(
    by_day: Mapping[str, float], counted: "Counted", kind: Sequence[str], spread: float, t: float
) -> Estimate:
    """The requests of a day of one kind; `t` spreads hold all but a few days."""
    width = t * spread * math.sqrt(1 + 1 / len(kind))
    days = {day: by_day[day] for day in kind}
    counted = {day: sums for day, sums in counted.items() if day in days}
    every = _all(sums for sums, _ in counted.values())
    hits = _all(sums for _, sums in counted.values())
    mean_requests = sum(days.values()) / len(days)
    size = every.effective
    if not hits.count or not size:
        high = mean_requests * (min(1.0, RULE_OF_THREE / size) if size else 1.0)
        return Estimate(0.0, 0.0, min(high * math.exp(width), mean_requests), 0, 0.0, spread)
    share = hits.weight / every.weight
    middle = _mean(days, counted, share)
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


def _spread(
    by_day: Mapping[str, float], counted: Counted, kinds: Sequence[Sequence[str]]
) -> tuple[float, float]:
    """The relative spread between days of a kind, and how many spreads the bounds take."""
    known = len(by_day) - len(kinds)
    freedom = ASSUMED_DAYS + known
    seen = 0.0
    if known:
        traffic = [(day, requests, 0.0) for day, requests in by_day.items()]
        seen = max(_variance(traffic, kinds), _variance(_daily(by_day, counted), kinds))
    weighed = (ASSUMED_DAYS * ASSUMED_SPREAD**2 + known * seen) / freedom
    t = _T[freedom - 1] if freedom <= len(_T) else _T_OF_MORE
    return math.sqrt(max(seen, weighed)), t


Daily = Sequence[tuple[str, float, float]]
"""Days with a number, and the variance that sampling alone gives it."""


def _daily(by_day: Mapping[str, float], counted: Counted) -> Daily:
    """The hits of each day."""
    found = []
    for day, (every, hits) in counted.items():
        number = by_day.get(day, 0.0) * hits.weight / every.weight
        found.append((day, number, number**2 / max(1.0, hits.effective)))
    return found


def _variance(daily: Daily, kinds: Sequence[Sequence[str]]) -> float:
    """The relative variance of the numbers around the mean of their kind, beyond sampling."""
    squares, days, means = 0.0, 0, 0
    for kind in kinds:
        some = [(number, noise) for day, number, noise in daily if day in kind]
        mean = sum(number for number, _ in some) / len(some) if some else 0.0
        if mean:
            share = 1 - 1 / len(some)  # of a variance, in a square around the mean
            squares += sum((n - mean) ** 2 - noise * share for n, noise in some) / mean**2
            days, means = days + len(some), means + 1
    return max(0.0, squares / (days - means)) if days > means else 0.0


def _wilson(share: float, size: float) -> tuple[float, float]:
    """Wilson's interval of a share that is not zero."""
    z = _Z * _Z / size
    middle = (share + z / 2) / (1 + z)
    around = _Z * math.sqrt(share * (1 - share) / size + z / size / 4) / (1 + z)
    # With a share near 0 or 1, rounding must not put the share outside.
    return max(min(middle - around, share), share * 1e-9), max(min(middle + around, 1.0), share)


def _all(days: Iterable[Sums]) -> Sums:
    whole = Sums()
    for sums in days:
        whole.count += sums.count
        whole.weight += sums.weight
        whole.squares += sums.squares
    return whole
