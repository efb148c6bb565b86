"""`python -m bench coverage`: how often the next day falls within the bounds of a forecast.

Simulated, without Spark, so that thousands of forecasts take seconds. `python -m bench backtest`
is the same question on generated logs, through the jobs.

    noisy       each day the traffic varies by 10%, and each targeting by another 20%
    weekly      the same, and weekends have 30% less traffic
    drifting    the same as noisy, and each targeting grows or shrinks by 2% a day
    all         all of it together

The samples have 20,000 requests in all. `width` is the median of high / low: bounds that say
nothing hold everything.
"""

import argparse
import math
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random

from campaigns.statistics.estimate import Sums, estimate
from testkit.arguments import positive
from testkit.markdown import table

HISTORIES = (1, 2, 3, 7, 14)
SAMPLE = 20_000
_MONDAY = date(2026, 11, 16)
_STARTS = 14
_SATURDAY = 5


@dataclass(frozen=True)
class Traffic:
    """How days differ."""

    volume: float = 0.1
    taste: float = 0.2
    weekend: float = 1.0
    trend: float = 0.0


TRAFFIC = {
    "noisy": Traffic(),
    "weekly": Traffic(weekend=0.7),
    "drifting": Traffic(trend=0.02),
    "all": Traffic(weekend=0.7, trend=0.02),
}


@dataclass(frozen=True)
class Coverage:
    """The share of targetings whose next day was within the bounds, and their width."""

    inside: float
    width: float


def coverage(traffic: Traffic, history: int, targetings: int = 40) -> Coverage:
    """Forecast a day from the days before it, beginning on each day of two weeks."""
    inside, widths = 0, []
    for start in range(_STARTS):
        random = Random(f"{traffic} {history} {start}")
        days = [_MONDAY + timedelta(days=start + number) for number in range(history + 1)]
        totals = [_requests(random, traffic, day) for day in days]
        by_day = dict(zip(map(str, days[:-1]), totals, strict=False))
        for _ in range(targetings):
            shares = _shares(random, traffic, history + 1)
            size = SAMPLE // history
            found = estimate(
                {"requests_by_day": by_day},
                {day: _sums(size) for day in by_day},
                {
                    day: _sums(_hits(random, size, share))
                    for day, share in zip(by_day, shares, strict=False)
                },
            )
            inside += found.low <= totals[-1] * shares[-1] <= found.high
            widths.append(found.high / max(1.0, found.low))
    return Coverage(inside / len(widths), sorted(widths)[len(widths) // 2])


def _requests(random: Random, traffic: Traffic, day: date) -> float:
    whole = 1e6 * (traffic.weekend if day.weekday() >= _SATURDAY else 1.0)
    return whole * random.lognormvariate(0, traffic.volume)


def _shares(random: Random, traffic: Traffic, days: int) -> list[float]:
    """The share of the requests that a targeting matches, each day."""
    share = 10 ** random.uniform(-2.5, -0.5)
    trend = random.choice((-traffic.trend, traffic.trend))
    noise = [random.gauss(0, traffic.taste) for _ in range(days)]
    return [min(0.9, share * math.exp(each + trend * day)) for day, each in enumerate(noise)]


def _hits(random: Random, size: int, share: float) -> int:
    """A binomial number by its normal approximation: there are enough hits for it."""
    return max(0, round(random.gauss(size * share, math.sqrt(size * share * (1 - share)))))


def _sums(count: int) -> Sums:
    return Sums(count, count, count)


def run(arguments: argparse.Namespace) -> None:
    """Simulate each kind of traffic and print a table."""
    rows = []
    for name, traffic in TRAFFIC.items():
        found = [coverage(traffic, history, arguments.targetings) for history in HISTORIES]
        rows.append([name, *(f"{each.inside:.1%} ({each.width:.1f})" for each in found)])
    days = [f"{history} day{'s' if history > 1 else ''}" for history in HISTORIES]
    print(table(["traffic, within (width)", *days], rows))


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Put `coverage` on the command line."""
    command = commands.add_parser("coverage", help="simulated days within the bounds of forecasts")
    command.add_argument("--targetings", type=positive, default=200, help="for each of 14 starts")
    command.set_defaults(run=run)
