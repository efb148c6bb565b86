"""Runs the transforms on rows of the log and collects their results into a document.

Only results that the options bound reach the driver: common values, ranges, the sample.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from pyspark.sql import DataFrame

from campaigns.statistics.document import SCHEMA, checksum_of, share
from campaigns.statistics.sample import pack
from campaigns.timestamps import written
from index import Attribute, Schema
from index.language import Type
from spark.columns import counted_attributes
from spark.errors import NoImpressions
from spark.progress import Progress
from spark.statistics.options import Options
from spark.transforms.summary import Summary, Whole, added_up, histograms, summary
from spark.weights import UNIT

Scalar = bool | int | float | str

_READ: dict[Type, Callable[[str], Scalar]] = {
    Type.BOOL: lambda text: text == "true",
    Type.INT: int,
    Type.FLOAT: float,
}
_NUMBERS = (Type.INT, Type.FLOAT)


@dataclass(frozen=True, slots=True)
class Statistics:
    """The document, its packed sample, and the number of malformed rows by day and problem."""

    document: dict[str, Any]
    sample: bytes
    problems: dict[str, dict[str, int]]


def build_statistics(
    found: DataFrame,
    schema: Schema,
    days: Sequence[str],
    options: Options,
    tasks: int,
    progress: Progress,
) -> Statistics:
    """The statistics of these days, from what the tasks found (`ImpressionLog.counted`)."""
    progress.step("reading and counting")
    counted = counted_attributes(schema)
    added = added_up(found, counted, options.values, options.sample, tasks).persist()
    try:
        seen = summary(added, counted, options.values, options.sample, tasks)
        by_day, bad = seen.days, seen.problems
        _check_days(days, by_day, bad)
        whole = sum(day.weight for day in by_day.values())
        attributes = {each.name: _attribute(each, seen, whole) for each in counted}
        progress.step("building the histograms")
        # Where all values are common ones there is nothing left.
        more = [each for each in counted if attributes[each.name]["distinct"] > options.values]
        common = {
            each.name: [value for value, _ in attributes[each.name]["values"]]
            for each in more
            if each.type in _NUMBERS
        }
        for name, ranges in histograms(added, common, options.ranges).items():
            attributes[name]["histogram"] = [
                [least, greatest, share(weight, whole)] for least, greatest, weight in ranges
            ]
    finally:
        added.unpersist()
    number = sum(day.rows for day in by_day.values())
    progress.step("packing the sample")
    packed = pack(seen.sample)
    document = {
        "schema": SCHEMA,
        "window": _window(days),
        "rows": number,
        "quarantined": sum(sum(some.values()) for some in bad.values()),
        "requests": whole / UNIT,
        "requests_by_day": {day: by_day[day].weight / UNIT for day in days},
        "attributes": attributes,
        "sample": {
            "rows": len(seen.sample),
            "rate": min(1.0, share(len(seen.sample) * UNIT, whole)),
            "checksum": checksum_of(packed),
        },
    }
    return Statistics(document, packed, bad)


def _check_days(
    days: Sequence[str], by_day: Mapping[str, Whole], bad: Mapping[str, Mapping[str, int]]
) -> None:
    for day in days:
        if day not in by_day:
            malformed = sum(bad.get(day, {}).values())
            raise NoImpressions(f"{day} has no good row ({malformed} malformed)")


def _window(days: Sequence[str]) -> dict[str, Any]:
    first, last = date.fromisoformat(days[0]), date.fromisoformat(days[-1])
    return {
        "from": written(datetime.combine(first, time(), UTC)),
        "to": written(datetime.combine(last + timedelta(days=1), time(), UTC)),
        "days": list(days),
    }


def _attribute(attribute: Attribute, seen: Summary, whole: int) -> dict[str, Any]:
    """The statistics of an attribute; its histogram is empty so far."""
    name = attribute.name
    found, read = seen.attributes[name], _READ.get(attribute.type.element, str)
    about: dict[str, Any] = {
        "type": attribute.type.value,
        "presence": share(found.present, whole),
        "distinct": found.distinct,
        "elements" if attribute.type.is_list else "values": [
            [read(text), share(weight, whole)] for text, weight in seen.common[name]
        ],
    }
    if attribute.type.is_list:
        about["empty"] = share(found.empty, whole)
    elif attribute.type in _NUMBERS:
        about["histogram"] = []
    return about
