"""How values of the API are written for people."""

from datetime import UTC, datetime


def when(text: str | None, empty: str = "–") -> str:
    """A time, in UTC."""
    if not text:
        return empty
    return datetime.fromisoformat(text).astimezone(UTC).strftime("%d %b %Y, %H:%M")


def age(text: str, now: datetime | None = None) -> str:
    """How long ago a time was, in its largest unit."""
    seconds = ((now or datetime.now(UTC)) - datetime.fromisoformat(text)).total_seconds()
    for unit, size in (("day", 86_400), ("hour", 3600), ("minute", 60)):
        if (count := int(seconds // size)) > 0:
            return f"{count} {unit}{'' if count == 1 else 's'}"
    return "less than a minute"


def money(micros: int) -> str:
    """A bid as dollars."""
    text = f"{micros / 1e6:,.6f}".rstrip("0")
    whole, _, cents = text.partition(".")
    return f"${whole}.{cents.ljust(2, '0')}"


def number(value: float | None) -> str:
    """A number with separators."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


def percent(share: float) -> str:
    """A share of a whole; something is never 0 %."""
    return "< 1 %" if 0 < share < 0.005 else f"{100 * share:.0f} %"


def sentence(text: str) -> str:
    """A text of the API as a sentence; unlike `capitalize` it leaves the case of names alone."""
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."
