"""Statistics of events, as `Index.use_statistics` takes them."""

from collections import Counter
from collections.abc import Sequence

from index.language import Schema, Type
from testkit.workloads.workload import Event

_COMMON = 1000
"""Most values listed per attribute; the remaining numbers go into a histogram."""
_RANGES = 64


def statistics_of(events: Sequence[Event], schema: Schema) -> dict[str, object]:
    """How often each attribute is present, and with which values."""
    total = len(events)
    attributes: dict[str, object] = {}
    for attribute in schema:
        values = [event[attribute.name] for event in events if attribute.name in event]
        described: dict[str, object] = {"presence": len(values) / total}
        if attribute.type.is_list:
            counts = Counter(element for value in values for element in set(value))
            described["empty"] = sum(not value for value in values) / total
            described["elements"] = _shares(counts, total)
        elif attribute.type is not Type.POINT:
            counts = Counter(values)
            described["values"] = _shares(counts, total)
            if attribute.type in (Type.INT, Type.FLOAT):
                common = {value for value, _ in counts.most_common(_COMMON)}
                rest = sorted(value for value in values if value not in common)
                described["histogram"] = _histogram(rest, total)
        attributes[attribute.name] = described
    return {"version": 1, "attributes": attributes}


def _shares(counts: "Counter[object]", total: int) -> list[tuple[object, float]]:
    return [(value, count / total) for value, count in counts.most_common(_COMMON)]


def _histogram(values: list[float], total: int) -> list[tuple[float, float, float]]:
    """Ranges with about the same number of values in each."""
    size = max(1, len(values) // _RANGES)
    parts = [values[first : first + size] for first in range(0, len(values), size)]
    return [(part[0], part[-1], len(part) / total) for part in parts]
