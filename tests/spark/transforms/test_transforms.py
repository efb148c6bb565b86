"""Each transform, on rows that can be counted by hand."""

import hashlib
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from index import Schema
from spark.columns import counted_attributes
from spark.impression_log import ImpressionLog
from spark.transforms import sums
from spark.transforms.arrow import unpacked
from spark.transforms.counts import SUM
from spark.transforms.histogram import histogram
from spark.transforms.malformed import malformed, problems_by_day
from spark.transforms.requests import as_requests, good_rows
from spark.transforms.summary import Summary, Whole, added_up, histograms, summary
from spark.weights import UNIT
from tests.spark.conftest import DAY, Rows, line


def rows_of(frame: DataFrame, *names: str) -> list[tuple[Any, ...]]:
    return sorted(tuple(row[name] for name in names) for row in frame.collect())


def summary_of(found: DataFrame, schema: Schema, values: int = 100, sample: int = 100) -> Summary:
    """By the driver; it must be the same as by a task."""
    attributes = counted_attributes(schema)
    added = added_up(found, attributes, values, sample, 3).persist()
    by_driver, by_task = (summary(added, attributes, values, sample, tasks) for tasks in (3, 100))
    assert by_driver == by_task
    return by_driver


def test_everything_is_tallied_with_its_weight(log: Rows, schema: Schema) -> None:
    rows = log(
        line({"country": "US", "device.type": "phone", "age": 30, "user.id": "somebody"}),
        line({"country": "US", "Country": "us", "age": -1, "time": 5}, sample_rate=0.5),
        line({"user.segments": [3, 7, 3], "page.categories": []}, sample_rate=0.25),
        line({"bid.floor": -0.0, "secure": False, "user.segments": [7]}),
        line({"bid.floor": 0, "secure": True}),
        line({"age": "no"}),
    )
    tables = [unpacked(row["data"]) for row in rows.where("kind = 'sums'").collect()]
    found = sums.summed(tables, counted_attributes(schema)).to_pylist()
    assert sorted(
        tuple(row[name] for name in ("name", "value", "weight", "rows"))
        for row in found
        if row["kind"] == "value"
    ) == [
        ("Country", "us", 2 * UNIT, 1),
        ("age", "-1", 2 * UNIT, 1),
        ("age", "30", UNIT, 1),
        ("bid.floor", "0.0", 2 * UNIT, 2),
        ("country", "US", 3 * UNIT, 2),
        ("device.type", "phone", UNIT, 1),
        ("secure", "false", UNIT, 1),
        ("secure", "true", UNIT, 1),
        ("time", "5", 2 * UNIT, 1),
        ("user.segments", "3", 4 * UNIT, 1),
        ("user.segments", "7", 5 * UNIT, 2),
    ]
    numbers = {(row["name"], row["whole"], row["real"]) for row in found}
    assert {("age", 30, None), ("age", -1, None), ("bid.floor", None, 0.0)} <= numbers
    seen = summary_of(rows, schema)
    assert seen.days == {DAY: Whole(5, 9 * UNIT)}
    assert seen.problems == {DAY: {"wrong_type": 1}}
    assert problems_by_day(malformed(rows)) == {DAY: {"wrong_type": 1}}
    there = {
        name: (about.present, about.empty, about.distinct)
        for name, about in seen.attributes.items()
    }
    assert there["country"] == (3 * UNIT, 0, 1)
    assert there["user.segments"] == (5 * UNIT, 0, 2)
    assert there["page.categories"] == (4 * UNIT, 4 * UNIT, 0)
    assert there["secure"][2] == there["age"][2] == 2
    assert there["bid.floor"][2] == 1
    assert "user.id" not in there


def test_rows_of_a_log_that_is_checked(
    spark: SparkSession, checked_log: Rows, schema: Schema, tmp_path: Path
) -> None:
    bad = line({"age": "no"})
    rows = checked_log(line({}), line({"age": 3}, sample_rate=0.1), bad).persist()
    found = rows_of(rows.where("problem is not null"), "day", "problem", "request_id")
    assert found == [(DAY, "wrong_type", None)]
    (row,) = ImpressionLog(spark, schema, str(tmp_path)).malformed([DAY]).collect()
    assert (row["day"], row["problem"], orjson.loads(row["record"])) == (DAY, "wrong_type", bad)
    requests = as_requests(good_rows(rows)).collect()
    assert [(row["attributes"], row["weight"]) for row in requests] == [
        ("{}", UNIT),
        ('{"age":3}', 10 * UNIT),
    ]


def test_the_commonest_come_first_and_equals_by_their_value(log: Rows, schema: Schema) -> None:
    ages = [10, 9, 9, 8, 100, 100, 7]
    rows = log(*(line({"age": age}) for age in ages))
    found = summary_of(rows, schema, values=4)
    assert found.common == {"age": [("9", 2 * UNIT), ("100", 2 * UNIT), ("7", UNIT), ("8", UNIT)]}
    assert found.attributes["age"].distinct == 5


def test_a_histogram_holds_what_the_common_values_leave(log: Rows, schema: Schema) -> None:
    ages = [50, 50, 50, *range(1, 9)]
    floors = [0.5, 2.5]
    lines = [line({"age": age}) for age in ages] + [line({"bid.floor": each}) for each in floors]
    lines.append(line({"user.segments": [1, 2, 3]}))
    added = added_up(log(*lines), counted_attributes(schema), 1, 1, 3)
    found = histograms(added, {"age": [50], "bid.floor": [0.5], "time": []}, 4)
    assert [(least, greatest, weight // UNIT) for least, greatest, weight in found["age"]] == [
        (1, 2, 2),
        (3, 4, 2),
        (5, 6, 2),
        (7, 8, 2),
    ]
    assert found["bid.floor"] == [(2.5, 2.5, UNIT)]
    assert found["time"] == []
    assert histograms(added, {}, 4) == {}


def test_weights_near_the_largest_are_not_rounded_in_a_histogram() -> None:
    """The weight before a value times the number of ranges has more than 64 bits here."""
    most = 2**62
    numbers = pa.table({"value": [3, 1, 2], "weight": [most - 1, most - 1, 1]})
    assert histogram(numbers, [], 64) == [(1, 1, most - 1), (2, 2, 1), (3, 3, most - 1)]


def test_a_sum_that_does_not_fit_is_an_error() -> None:
    half = pa.table([["day"] * 2, [DAY] * 2, [None] * 2, [2**62] * 2, [1] * 2], schema=SUM)
    with pytest.raises(pa.ArrowInvalid):
        sums.summed([half], [])


def test_the_sample_is_that_of_the_least_hashes(log: Rows, schema: Schema) -> None:
    ids = [f"request {number}" for number in range(300)]
    rows = log(*(line({"age": 1, "country": id}, id=id) for id in ids))
    found = summary_of(rows, schema, sample=20).sample
    ordered = sorted(ids, key=lambda id: hashlib.sha256(id.encode()).hexdigest())
    assert [row["attributes"]["country"] for row in found] == ordered[:20]
    assert found[0] == {
        "attributes": {"age": 1, "country": ordered[0]},
        "builtins": {"now.hour": 12, "now.weekday": 1},
        "weight": 1.0,
        "day": DAY,
    }
    assert len(summary_of(rows, schema, sample=1000).sample) == 300
