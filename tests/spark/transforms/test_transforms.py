"""Each transform, on rows that can be counted by hand."""

import hashlib
from pathlib import Path
from typing import Any

import orjson
from pyspark.sql import DataFrame, SparkSession

from index import Schema
from spark.columns import counted_attributes
from spark.impression_log import ImpressionLog
from spark.transforms import histogram as ranges
from spark.transforms.overview import Whole, overview
from spark.transforms.requests import as_requests, good_rows
from spark.transforms.sample import sample
from spark.transforms.tally import tally
from spark.transforms.top_values import top_values
from spark.transforms.totals import malformed, problems_by_day, totals
from spark.weights import UNIT
from tests.spark.conftest import DAY, Rows, line


def rows_of(frame: DataFrame, *names: str) -> list[tuple[Any, ...]]:
    return sorted(tuple(row[name] for name in names) for row in frame.collect())


def test_everything_is_tallied_with_its_weight(log: Rows, schema: Schema) -> None:
    rows = log(
        line({"country": "US", "device.type": "phone", "age": 30, "user.id": "somebody"}),
        line({"country": "US", "Country": "us", "age": -1, "time": 5}, sample_rate=0.5),
        line({"user.segments": [3, 7, 3], "page.categories": []}, sample_rate=0.25),
        line({"bid.floor": -0.0, "secure": False, "user.segments": [7]}),
        line({"bid.floor": 0, "secure": True}),
        line({"age": "no"}),
    )
    found = tally(rows, schema).persist()
    assert rows_of(found.where("kind = 'value'"), "name", "value", "weight", "rows") == [
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
    numbers = {(row["name"], row["whole"], row["real"]) for row in found.collect()}
    assert {("age", 30, None), ("age", -1, None), ("bid.floor", None, 0.0)} <= numbers
    assert rows_of(totals(found), "day", "rows", "weight") == [(DAY, 5, 9 * UNIT)]
    seen = overview(found, counted_attributes(schema))
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
    found = top_values(tally(rows, schema), 4)
    assert [(row["value"], row["rank"]) for row in found.orderBy("rank").collect()] == [
        ("9", 1),
        ("100", 2),
        ("7", 3),
        ("8", 4),
    ]


def test_a_histogram_holds_what_the_common_values_leave(log: Rows, schema: Schema) -> None:
    ages = [50, 50, 50, *range(1, 9)]
    floors = [0.5, 2.5]
    lines = [line({"age": age}) for age in ages] + [line({"bid.floor": each}) for each in floors]
    lines.append(line({"user.segments": [1, 2, 3]}))
    counted = tally(log(*lines), schema).persist()
    rest = ranges.rest(counted, top_values(counted, 1), schema)
    found = ranges.histogram(ranges.sliced(rest, 3).persist(), 4).orderBy("name", "place").collect()
    assert [
        (row["name"], row["least"]["whole"], row["greatest"]["whole"], row["weight"] // UNIT)
        for row in found
        if row["name"] == "age"
    ] == [("age", 1, 2, 2), ("age", 3, 4, 2), ("age", 5, 6, 2), ("age", 7, 8, 2)]
    others = [row for row in found if row["name"] != "age"]
    assert [(row["name"], row["least"]["real"], row["weight"]) for row in others] == [
        ("bid.floor", 2.5, UNIT)
    ]


def test_the_sample_is_that_of_the_least_hashes(log: Rows, schema: Schema) -> None:
    ids = [f"request {number}" for number in range(300)]
    rows = log(*(line({"age": 1, "device.type": "tv"}, id=id) for id in ids))
    found = sample(rows, 20).collect()
    lots = sorted(hashlib.sha256(id.encode()).hexdigest() for id in ids)
    assert [row["lot"] for row in found] == lots[:20]
    assert orjson.loads(found[0]["attributes"]) == {"age": 1, "device.type": "tv"}
    assert orjson.loads(found[0]["builtins"]) == {"now.hour": 12, "now.weekday": 1}
    assert len(sample(rows, 1000).collect()) == 300
