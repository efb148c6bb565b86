"""TAMA's false positives beside its bound (figure 8, theorems 1 to 3 of its paper).

The answers are compared with those of the flat scan: every true match must be among TAMA's, and the
share of the rest, of all that it gives, is its false-positive rate.
"""

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bench.index.engines import make
from bench.index.engines.peers import Paper
from bench.index.measure import Disagreement
from testkit.markdown import table
from testkit.progress import Progress
from testkit.workloads import make as workload_of
from testkit.workloads.cache import items

_EVENTS, _SEEN = 1000, 2000
_LEVEL = 20
_SKEWED_LEVELS = (10, 11)
"""Where skewed values have enough false positives to compare."""
_POWER = 4
_ENGINES = {"uniform": "tama", "optimal": "tama-optimal"}


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A cell of the figure. Skewed values are uniform ones to the fourth power."""

    constraints: int
    width: float
    level: int = _LEVEL
    separation: str = "uniform"
    skewed: bool = False

    @property
    def bound(self) -> float:
        """The largest false-positive rate for uniform values: theorem 1 for one constraint, theorem
        2 for several. The widest cell that surely fits is at the level where two cells do."""
        start = 0
        while 2 / 2**start > self.width:
            start += 1
        one = 1 / (2 ** (self.level - start - 1) + 1)
        return float(1 - (1 - one) ** self.constraints)


@dataclass(frozen=True, kw_only=True)
class Rate(Setting):
    """What was measured for a setting. `bytes_` are those of a subscription."""

    matches: int
    false: int
    us: float
    flat_us: float
    bytes_: float

    @property
    def rate(self) -> float:
        """The share of the answers that are false."""
        return self.false / max(self.matches + self.false, 1)


def settings() -> Iterator[Setting]:
    """The paper's figures 8 and 6, then skewed values."""
    for width in (0.01, 0.1):
        for constraints in (1, 2, 3):
            yield Setting(constraints=constraints, width=width)
    yield Setting(constraints=10, width=0.01)
    for separation in _ENGINES:
        for level in _SKEWED_LEVELS:
            yield Setting(
                constraints=1, width=0.01, level=level, separation=separation, skewed=True
            )


def false_positives(n: int, progress: Progress) -> list[Rate]:
    """Measure; raises `Disagreement` if a match is missing."""
    rates: list[Rate] = []
    all_settings = list(settings())
    for setting in all_settings:
        progress.show(
            f"TAMA, {len(rates) + 1} of {len(all_settings)}", len(rates), len(all_settings)
        )
        rates.append(_rate(n, setting))
    progress.done()
    return rates


def _rate(n: int, setting: Setting) -> Rate:
    power = _POWER if setting.skewed else 1
    workload = workload_of(
        "ranges", constraints=setting.constraints, width=setting.width, power=power
    )
    events = workload.events(_EVENTS + _SEEN)
    events, seen = events[:_EVENTS], events[_EVENTS:]
    # The domain is known to be [0, 1]; a sample alone would leave its ends out.
    seen += [{attribute.name: end for attribute in workload.schema} for end in (0.0, 1.0)]
    tama = Paper(_ENGINES[setting.separation], workload.schema, seen, setting.level)
    flat = make("flat", workload.schema)
    for engine in (tama, flat):
        engine.build(list(items(workload, n)))
    found, true = tama.answers(events), flat.answers(events)
    for event, (ours, exact) in enumerate(zip(found, true, strict=True)):
        if missing := set(exact) - set(ours):
            raise Disagreement(f"TAMA lacks {sorted(missing)[:3]} for event {event}")
    matches, given = sum(map(len, true)), sum(map(len, found))
    us, flat_us = (statistics.median(each.match_ns(events)) / 1000 for each in (tama, flat))
    return Rate(
        **vars(setting),
        matches=matches,
        false=given - matches,
        us=us,
        flat_us=flat_us,
        bytes_=tama.bytes_() / n,
    )


def false_positives_page(rates: Sequence[Rate], n: int) -> str:
    """A table."""
    rows = [
        [
            "skewed" if rate.skewed else "uniform",
            rate.separation,
            rate.level,
            rate.constraints,
            rate.width,
            rate.matches,
            rate.false,
            f"{rate.rate:.2e}",
            None if rate.skewed else f"{rate.bound:.2e}",
            float(f"{rate.us:.3g}"),
            float(f"{rate.flat_us:.3g}"),
            round(rate.bytes_),
        ]
        for rate in rates
    ]
    header = ["values", "separation", "level", "constraints", "width", "true matches", "false"]
    header += ["rate", "bound", "µs", "flat µs", "bytes"]
    return f"{_TEXT.format(n=n)}\n\n{table(header, rows)}"


_TEXT = """\
Its answers have no false negatives (checked against the flat scan), so it stands outside the
league. {n:,} subscriptions; the bound is that of its theorems 1 and 2, for uniform values. Skewed
values are uniform ones to the fourth power, in events and ranges; the optimal separation
(algorithm 3) cuts where a sample of events has its medians."""
