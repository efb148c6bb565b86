"""A chart of delivery by the hour, as numbers for an SVG picture; the page has a table as well."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

WIDTH, HEIGHT, GAP = 720, 160, 2


@dataclass(frozen=True, slots=True)
class Bar:
    """An hour: its place, and the heights of what was answered, outranked and missed."""

    x: float
    width: float
    answered: float
    matched: float
    missed: float
    label: str


def bars(hours: Sequence[Mapping[str, Any]], count: int, now: datetime) -> list[Bar]:
    """A bar for each of the last `count` hours; those without sampled requests are empty."""
    known = {datetime.fromisoformat(each["hour"]): each for each in hours}
    last = now.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    most = max((each["considered"] for each in hours), default=0) or 1
    width = WIDTH / count
    made = []
    for place in range(count):
        hour = last - timedelta(hours=count - 1 - place)
        each = known.get(hour, {"considered": 0, "matched": 0, "answered": 0})
        scale = HEIGHT / most
        answered = each["answered"] * scale
        matched = (each["matched"] - each["answered"]) * scale
        missed = (each["considered"] - each["matched"]) * scale
        label = (
            f"{hour:%d %b %H:00}: {each['considered']} considered, "
            f"{each['matched']} matched, {each['answered']} answered"
        )
        made.append(
            Bar(
                round(place * width, 1),
                round(max(1, width - GAP), 1),
                round(answered, 1),
                round(matched, 1),
                round(missed, 1),
                label,
            )
        )
    return made
