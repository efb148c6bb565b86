"""A chart of delivery by the hour, as numbers for an SVG picture; the page has a table as well.

A bar is an hour: what was answered at the bottom, above it the misses, divided as the reasons of
the hour that were looked up. A line is a change of the campaign.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

WIDTH, HEIGHT, GAP = 720, 160, 2
MOST_SERIES = 5
TICKS = 6
ANSWERED, OTHER, UNKNOWN = "answered", "other", "unknown"

Reason = tuple[str, str]
"""A code, and the predicate of a miss by targeting."""


@dataclass(frozen=True, slots=True)
class ReasonShare:
    """A reason with its part of the misses; `series` is the class of its colour in the chart."""

    code: str
    predicate: str
    share: float
    series: str


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a bar."""

    series: str
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class Bar:
    """An hour: its place, and its pieces from the bottom to the top."""

    x: float
    width: float
    label: str
    pieces: list[Piece]


@dataclass(frozen=True, slots=True)
class Mark:
    """A change of the campaign, at its place."""

    x: float
    label: str


@dataclass(frozen=True, slots=True)
class Chart:
    """The picture: bars, changes, the hours below them, and the most requests in an hour."""

    bars: list[Bar]
    marks: list[Mark]
    ticks: list[str]
    most: int


def reason_shares(total: Mapping[str, Any]) -> list[ReasonShare]:
    """The reasons of all misses, the most frequent first; the first few have their own colour."""
    counts = _reasons(total)
    explained = counts.total()
    return [
        ReasonShare(
            code,
            predicate,
            count / explained,
            f"reason-{place + 1}" if place < MOST_SERIES else OTHER,
        )
        for place, ((code, predicate), count) in enumerate(counts.most_common())
    ]


def chart(
    hours: Sequence[Mapping[str, Any]],
    shares: Sequence[ReasonShare],
    changes: Sequence[tuple[datetime, str]],
    count: int,
    now: datetime,
) -> Chart:
    """The last `count` hours; those without sampled requests are empty."""
    known = {datetime.fromisoformat(each["hour"]): each for each in hours}
    first = now.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    first -= timedelta(hours=count - 1)
    most = max((each["considered"] for each in hours), default=0)
    width = WIDTH / count
    series = {(share.code, share.predicate): share.series for share in shares}
    bars = []
    for place in range(count):
        hour = first + timedelta(hours=place)
        label, pieces = f"{hour:%d %b %H:00}: nothing sampled", []
        if each := known.get(hour):
            pieces = _pieces(each, series, HEIGHT / most)
            label = (
                f"{hour:%d %b %H:00}: {each['considered']} considered, "
                f"{each['matched']} matched, {each['answered']} answered"
            )
        bars.append(Bar(round(place * width, 1), round(max(1, width - GAP), 1), label, pieces))
    marks = [
        Mark(round((moment - first) / timedelta(hours=1) * width, 1), label)
        for moment, label in changes
        if moment >= first
    ]
    ticks = [f"{first + timedelta(hours=n * count // TICKS):%d %b %H:00}" for n in range(TICKS)]
    return Chart(bars, marks, ticks, most)


def _pieces(hour: Mapping[str, Any], series: Mapping[Reason, str], scale: float) -> list[Piece]:
    reasons = _reasons(hour)
    parts = Counter({ANSWERED: hour["answered"]})
    missed = hour["considered"] - hour["answered"]
    for reason, count in reasons.items():
        parts[series.get(reason, OTHER)] += missed * count / reasons.total()
    if not reasons:
        parts[UNKNOWN] = missed
    pieces, y = [], float(HEIGHT)
    for name in (ANSWERED, *(f"reason-{n + 1}" for n in range(MOST_SERIES)), OTHER, UNKNOWN):
        height = parts[name] * scale
        y -= height
        if height:
            pieces.append(Piece(name, round(y, 1), round(height, 1)))
    return pieces


def _reasons(total: Mapping[str, Any]) -> Counter[Reason]:
    """The reasons of the misses, also that others were better."""
    counts: Counter[Reason] = Counter()
    for each in total["reasons"]:
        counts[each["code"], each["predicate"] or ""] += each["count"]
    if total["outranked"]:
        counts["outranked", ""] = total["outranked"]
    return counts
