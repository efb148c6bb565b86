"""Runs the transforms on rows of the log and collects their results into a document.

Only results that the options bound reach the driver: common values, ranges, the sample.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import orjson
from pyspark.sql import DataFrame, Row

from campaigns.statistics.document import SCHEMA, checksum_of, share
from campaigns.statistics.sample import pack
from campaigns.timestamps import written
from index import Attribute, Schema
from index.language import Type
from spark.columns import counted_attributes
from spark.errors import NoImpressions
from spark.progress import Progress
from spark.statistics.options import Options
from spark.transforms import histogram as ranges
from spark.transforms.overview import Overview, Whole, overview
from spark.transforms.sample import sample
from spark.transforms.tally import tally
from spark.transforms.top_values import top_values
from spark.weights import UNIT, WEIGHT

Scalar = bool | int | float | str

_READ: dict[Type, Callable[[str], Scalar]] = {
    Type.BOOL: lambda text: text == "true",
    Type.INT: int,
    Type.FLOAT: float,
    Type.STRING: str,
    Type.VERSION: str,
    Type.IP: str,
}


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
    slices: int,
    progress: Progress,
) -> Statistics:
    """The statistics of these days, from what the tasks found (`ImpressionLog.counted`)."""
    progress.step("reading and counting")
    counts = tally(found, schema).persist()
    try:
        seen = overview(counts, counted_attributes(schema))
        by_day, bad = seen.days, seen.problems
        _check_days(days, by_day, bad)
        whole = sum(day.weight for day in by_day.values())
        attributes = _attributes(counts, schema, seen, whole, options, slices, progress)
    finally:
        counts.unpersist()
    number = sum(day.rows for day in by_day.values())
    progress.step("drawing the sample")
    kept = [_sampled(row) for row in sample(found, options.sample).collect()]
    packed = pack(kept)
    document = {
        "schema": SCHEMA,
        "window": _window(days),
        "rows": number,
        "quarantined": sum(sum(some.values()) for some in bad.values()),
        "requests": whole / UNIT,
        "requests_by_day": {day: by_day[day].weight / UNIT for day in days},
        "attributes": attributes,
        "sample": {
            "rows": len(kept),
            "rate": min(1.0, share(len(kept) * UNIT, whole)),
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


def _attributes(
    tally: DataFrame,
    schema: Schema,
    seen: Overview,
    whole: int,
    options: Options,
    slices: int,
    progress: Progress,
) -> dict[str, dict[str, Any]]:
    """The statistics of each attribute."""
    progress.step("finding the common values")
    attributes = {each.name: _empty(each) for each in counted_attributes(schema)}
    for name, found in seen.attributes.items():
        about = attributes[name]
        about["presence"] = share(found.present, whole)
        about["distinct"] = found.distinct
        if "empty" in about:
            about["empty"] = share(found.empty, whole)
    best = top_values(tally, options.values).persist()
    try:
        for row in sorted(best.collect(), key=lambda row: row["rank"]):
            about, value = attributes[row["name"]], _value(schema[row["name"]], row["value"])
            about[_listing(schema[row["name"]])].append([value, share(row[WEIGHT], whole)])
        progress.step("building the histograms")
        sliced = ranges.sliced(ranges.rest(tally, best, schema), slices).persist()
        histogram = ranges.histogram(sliced, options.ranges).collect()
        sliced.unpersist()
    finally:
        best.unpersist()
    for row in sorted(histogram, key=lambda row: row["place"]):
        range = [_number(row["least"]), _number(row["greatest"]), share(row[WEIGHT], whole)]
        attributes[row["name"]]["histogram"].append(range)
    return attributes


def _empty(attribute: Attribute) -> dict[str, Any]:
    """The statistics of an attribute that no request has."""
    about: dict[str, Any] = {
        "type": attribute.type.value,
        "presence": 0.0,
        "distinct": 0,
        _listing(attribute): [],
    }
    if attribute.type.is_list:
        about["empty"] = 0.0
    elif attribute.type in (Type.INT, Type.FLOAT):
        about["histogram"] = []
    return about


def _listing(attribute: Attribute) -> str:
    return "elements" if attribute.type.is_list else "values"


def _sampled(row: Row) -> dict[str, Any]:
    return {
        "attributes": orjson.loads(row["attributes"]),
        "builtins": orjson.loads(row["builtins"]),
        "weight": row[WEIGHT] / UNIT,
        "day": row["day"],
    }


def _value(attribute: Attribute, text: str) -> Scalar:
    return _READ[attribute.type.element](text)


def _number(value: Row) -> int | float:
    whole: int | None = value["whole"]
    real: float = value["real"]
    return real if whole is None else whole
