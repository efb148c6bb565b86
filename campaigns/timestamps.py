"""Times as RFC 3339 text for people, and as epoch seconds for the index."""

from datetime import datetime


def written(moment: datetime | None) -> str | None:
    """RFC 3339 in UTC, with a Z."""
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")


def seconds(moment: datetime | None) -> float | None:
    """Epoch seconds; an integer if there is no fraction."""
    if moment is None:
        return None
    epoch = moment.timestamp()
    return int(epoch) if epoch.is_integer() else epoch
