"""Each transform, on rows that can be counted by hand."""

import hashlib
from typing import Any

import orjson
from pyspark.sql import DataFrame

from index import Schema
from spark.transforms import histogram as ranges
from spark.transforms.presence import presence
from spark.transforms.sample import sample
from spark.transforms.tally import tally
from spark.transforms.top_values import top_values
from spark.transforms.totals import daily, problems_by_day, totals
from spark.transforms.validation import good_rows, quarantined
from spark.weights import UNIT
from tests.spark.conftest import DAY, NOON, Rows, line


def rows_of(frame: DataFrame, *names: str) -> list[tuple[Any, ...]]:
    return sorted(tuple(row[name] for name in names) for row in frame.collect())


def test_what_is_wrong_with_a_row_is_named_and_its_text_is_kept(log: Rows) -> None:
    good = line({"country": "US"}, id="good")
    other_day = line({}, time=NOON + 86400)
    lines: list[Any] = [
        good,
        b'{"time": 1, "requ',
        b"not JSON at all",
        line({"age": "thirty"}),
        line({"age": 30.5}),
        line({"secure": 1}),
        line({"user.segments": 7}),
        line({"user.segments": [7, None]}),
        line({"bid.floor": 1}, time=None),
        line({}, id=""),
        line({}, attributes=None),
        line({}, sample_rate=0),
        line({}, sample_rate=1.5),
        line({}, sample_rate=None),
        b'{"time": 1794830400, "request_id": "r", "attributes": {"bid.floor": 1e999}, '
        b'"builtins": {}, "sample_rate": 1}',
        other_day,
    ]
    rows = log(*lines)
    assert [row["request_id"] for row in good_rows(rows).collect()] == ["good"]
    bad = quarantined(rows).collect()
    assert [row["problem"] for row in bad] == [
        *["not_json"] * 2,
        *["wrong_type"] * 4,
        "null_element",
        "no_time",
        "no_request_id",
        "no_attributes",
        *["sample_rate"] * 3,
        "not_finite",
        "other_day",
    ]
    assert bad[1]["record"] == "not JSON at all"
    assert orjson.loads(bad[2]["record"])["attributes"] == {"age": "thirty"}
    assert orjson.loads(bad[6]["record"])["attributes"] == {"user.segments": [7, None]}


GOOD_START = b'{"time": 1794830400, "request_id": "r", "sample_rate": 1, "attributes": '


LINES: list[tuple[bytes, str | None]] = [
    (GOOD_START + b"{}}", None),
    (GOOD_START + b'{}, "builtins": null}', None),
    (GOOD_START + b'{}, "builtins": {"now.hour": 7, "more": "x"}}', None),
    (GOOD_START + b'{"user.id": 5, "unknown": [null]}}', None),
    (GOOD_START + b'{"bid.floor": 1152921504606846976}}\r', None),
    (GOOD_START + b'{}, "builtins": {"now.hour": "7"}}', "wrong_type"),
    (GOOD_START + b'{}, "builtins": {"now.weekday": 8}}', "wrong_type"),
    (GOOD_START + b'{}, "builtins": [7]}', "wrong_type"),
    (GOOD_START + b"{}} {}", "not_json"),
    (GOOD_START + b"{}}{}", "not_json"),
    (GOOD_START + b"{}} and more", "not_json"),
    (b"[" + GOOD_START + b"{}}]", "not_json"),
    (b"[]", "not_json"),
    (b"", "not_json"),
    (b"null", "not_json"),
    (b"\xff\xfe", "not_json"),
    (GOOD_START + b'{"bid.floor": NaN}}', "not_json"),
    (GOOD_START + b'{"country": "U', "not_json"),
    (GOOD_START + b'{"country": 5}}', "wrong_type"),
    (GOOD_START + b'{"country": "U\\u0000S"}}', "wrong_type"),
    (GOOD_START + b'{"page.categories": ["\\u0000"]}}', "wrong_type"),
    (GOOD_START + b'{"country": "\\ud800"}}', "wrong_type"),
    (GOOD_START + b'{"age": 9223372036854775808}}', "wrong_type"),
    (GOOD_START + b'{"bid.floor": 9007199254740993}}', "wrong_type"),
    (GOOD_START.replace(b"1794830400", b"1e400") + b"{}}", "not_finite"),
    (GOOD_START.replace(b"1794830400", b"1e300") + b"{}}", "other_day"),
    (GOOD_START.replace(b"1794830400", b"-1e9") + b"{}}", "other_day"),
    (GOOD_START.replace(b'"r"', b"5") + b"{}}", "wrong_type"),
]


def test_every_line_is_counted_once_as_good_or_with_its_problem(log: Rows, schema: Schema) -> None:
    rows = log(*(text for text, _ in LINES)).persist()
    found = rows.select("problem", "record").collect()
    assert [row["problem"] for row in found] == [problem for _, problem in LINES]
    bad = [(text.decode(errors="replace"), problem) for text, problem in LINES if problem]
    assert [(row["record"], row["problem"]) for row in quarantined(rows).collect()] == bad
    ((good,),) = rows_of(totals(tally(good_rows(rows), schema)), "rows")
    assert good + sum(problems_by_day(quarantined(rows))[DAY].values()) == len(LINES)


def test_everything_is_tallied_with_its_weight(log: Rows, schema: Schema) -> None:
    rows = log(
        line({"country": "US", "device.type": "phone", "age": 30, "user.id": "somebody"}),
        line({"country": "US", "Country": "us", "age": -1, "time": 5}, sample_rate=0.5),
        line({"user.segments": [3, 7, 3], "page.categories": []}, sample_rate=0.25),
        line({"bid.floor": -0.0, "secure": False, "user.segments": [7]}),
        line({"bid.floor": 0, "secure": True}),
        line({"age": "no"}),
    )
    found = tally(good_rows(rows), schema).persist()
    assert rows_of(found.where("kind = 'value'"), "name", "value", "weight", "rows") == [
        ("Country", "us", 2 * UNIT, 1),
        ("age", "-1", 2 * UNIT, 1),
        ("age", "30", UNIT, 1),
        ("bid.floor", found.where("name = 'bid.floor'").collect()[0]["value"], 2 * UNIT, 2),
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
    assert problems_by_day(quarantined(rows)) == {DAY: {"wrong_type": 1}}
    there = {
        row["name"]: (row["present"], row["empty"], row["distinct"])
        for row in presence(found, schema).collect()
    }
    assert there["country"] == (3 * UNIT, 0, 1)
    assert there["user.segments"] == (5 * UNIT, 0, 2)
    assert there["page.categories"] == (4 * UNIT, 4 * UNIT, 0)
    assert there["secure"][2] == there["age"][2] == 2
    assert there["bid.floor"][2] == 1
    assert "user.id" not in there


def test_daily_sums_are_those_of_the_good_rows(log: Rows) -> None:
    rows = log(line({}), line({}, sample_rate=0.1), line({"age": "no"}))
    assert rows_of(daily(good_rows(rows)), "day", "rows", "weight") == [(DAY, 2, 11 * UNIT)]


def test_the_commonest_come_first_and_equals_by_their_value(log: Rows, schema: Schema) -> None:
    ages = [10, 9, 9, 8, 100, 100, 7]
    rows = log(*(line({"age": age}) for age in ages))
    found = top_values(tally(good_rows(rows), schema), 4)
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
    counted = tally(good_rows(log(*lines)), schema).persist()
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
    rows = good_rows(log(*(line({"age": 1, "device.type": "tv"}, id=id) for id in ids)))
    found = sample(rows, len(ids), 20).collect()
    lots = sorted(hashlib.sha256(id.encode()).hexdigest() for id in ids)
    assert [row["lot"] for row in found] == lots[:20]
    assert orjson.loads(found[0]["attributes"]) == {"age": 1, "device.type": "tv"}
    assert orjson.loads(found[0]["builtins"]) == {"now.hour": 12, "now.weekday": 1}
    assert len(sample(rows, len(ids), 1000).collect()) == 300
