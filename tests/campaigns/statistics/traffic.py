"""Statistics documents and samples for tests, made by hand or from requests."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from campaigns.statistics.document import checksum_of
from campaigns.statistics.sample import pack

DAY = "2026-11-16"


def request(day: str = DAY, weight: float = 1.0, **attributes: Any) -> dict[str, Any]:
    """A row of a sample; `device_type` is the attribute `device.type`."""
    named = {name.replace("_", "."): value for name, value in attributes.items()}
    builtins = {"now.hour": 7, "now.weekday": 1}
    return {"attributes": named, "builtins": builtins, "weight": weight, "day": day}


def statistics(
    requests: Sequence[dict[str, Any]] = (),
    by_day: dict[str, float] | None = None,
    attributes: dict[str, Any] | None = None,
    rate: float = 1.0,
    **changed: Any,
) -> tuple[dict[str, Any], bytes]:
    """A document and its sample. What is not given is counted: each request once."""
    sample = pack(requests)
    days = Counter(str(row["day"]) for row in requests) or {DAY: 0}
    by_day = by_day or {day: count / rate for day, count in days.items()}
    document = {
        "schema": 1,
        "window": {
            "from": f"{min(by_day)}T00:00:00Z",
            "to": f"{max(by_day)}T23:59:59Z",
            "days": sorted(by_day),
        },
        "rows": len(requests),
        "quarantined": 0,
        "requests": float(sum(by_day.values())),
        "requests_by_day": by_day,
        "attributes": counted(requests) if attributes is None else attributes,
        "sample": {"rows": len(requests), "rate": rate, "checksum": checksum_of(sample)},
        **changed,
    }
    return document, sample


def counted(requests: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The shares of every value of the attributes that are texts or whole numbers."""
    values: dict[str, Counter[Any]] = {}
    for row in requests:
        for name, value in row["attributes"].items():
            values.setdefault(name, Counter())[value] += 1
    return {
        name: {
            "type": "int" if isinstance(next(iter(counts)), int) else "string",
            "presence": counts.total() / len(requests),
            "distinct": len(counts),
            "values": [[value, n / len(requests)] for value, n in counts.most_common()],
        }
        for name, counts in sorted(values.items())
    }
