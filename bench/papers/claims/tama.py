"""Zhao and Wu: Towards approximate event processing in a large-scale content-based network
(INFOCOM 2011)."""

from bench.papers.claims.claim import Claim, Evidence
from bench.papers.false_positives import Rate

_RAW_BYTES = 16
"""Two doubles for each range."""


def _rates(evidence: Evidence, separation: str = "uniform", skewed: bool = False) -> list[Rate]:
    found = [r for r in evidence.rates if (r.separation, r.skewed) == (separation, skewed)]
    if not found:
        raise KeyError(separation)
    return found


def _worst(evidence: Evidence) -> float:
    return float(f"{max(rate.rate for rate in _rates(evidence)):.2g}")


def _within_bound(evidence: Evidence) -> float:
    """The largest rate as a share of its bound."""
    return float(f"{max(rate.rate / rate.bound for rate in _rates(evidence)):.2g}")


def _halving(evidence: Evidence) -> float:
    """The rate with one level less, as a multiple."""
    by_level = {rate.level: rate.rate for rate in _rates(evidence, "optimal", skewed=True)}
    last = max(by_level)
    return float(f"{by_level[last - 1] / by_level[last]:.3g}")


def _separation(evidence: Evidence) -> float:
    """Optimal against uniform separation of skewed values, in percent."""
    level = max(rate.level for rate in _rates(evidence, skewed=True))
    uniform, optimal = (
        next(r.rate for r in _rates(evidence, name, skewed=True) if r.level == level)
        for name in ("uniform", "optimal")
    )
    return round(100 * (optimal / uniform - 1), 1)


def _ten(evidence: Evidence) -> Rate:
    return next(rate for rate in _rates(evidence) if rate.constraints == 10)


def _against_scan(evidence: Evidence) -> float:
    ten = _ten(evidence)
    return float(f"{ten.flat_us / ten.us:.3g}")


def _memory(evidence: Evidence) -> float:
    ten = _ten(evidence)
    return float(f"{ten.bytes_ / ten.constraints / _RAW_BYTES:.3g}")


CLAIMS = (
    Claim(
        "false positives at level 20, 20,000 subscriptions (figure 8)",
        "< 5·10⁻⁴",
        _worst,
        lambda ours: ours < 5e-4,
        "",
        why="It should: the bound of theorem 1 is below it.",
    ),
    Claim(
        "the largest rate as a share of the bound of theorems 1 and 2",
        "≤ 1",
        _within_bound,
        lambda ours: ours <= 1,
        "",
        why="It should: theorems 1 and 2.",
    ),
    Claim(
        "one level less, skewed values, optimal separation (theorem 3)",
        "2 times as many",
        _halving,
        lambda ours: ours >= 1.5,
        "times",
        why="Too few false positives to tell.",
    ),
    Claim(
        "optimal against uniform separation, skewed values (III-C)",
        "needed",
        _separation,
        lambda ours: ours < -25,
        why="The skew is too small to matter at this level.",
    ),
    Claim(
        "10 constraints: against a scan (figure 6, Siena from 160,000 constraints on)",
        "far superior",
        _against_scan,
        lambda ours: ours >= 1,
        "times",
        why=(
            "An event asks 21 hash maps for each of its 100 attributes, 2,100 places of memory; a "
            "scan reads each subscription up to its first false constraint, which with ranges of 1 "
            "% is the first, front to back."
        ),
    ),
    Claim(
        "memory, as a multiple of the ranges' own (figure 12)",
        "3 to 4",
        _memory,
        lambda ours: ours <= 8,
        "times",
        why=(
            "A hash map and a vector for each cell, where the paper counts cell and subscription "
            "numbers of 4 bytes alone."
        ),
    ),
)
