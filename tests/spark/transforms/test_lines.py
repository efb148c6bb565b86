"""What is read from lines of the log, and what is wrong with them. No Spark is needed for it."""

from collections import Counter
from typing import Any

import orjson
import pyarrow as pa
import pytest

from index import Attribute, Schema
from spark.columns import CHECKED_COLUMNS, counted_attributes
from spark.transforms.arrow import Batches, unpacked
from spark.transforms.counts import DAY, VALUE
from spark.transforms.found import BAD, SAMPLE
from spark.transforms.lines import LineReader
from spark.transforms.passes import _columns, _counter
from spark.transforms.typed import TypedReader
from tests.spark.conftest import DAY as TODAY
from tests.spark.conftest import NOON, line

Found = list[dict[str, Any]]


def batch_of(lines: list[Any]) -> pa.RecordBatch:
    texts = [each if isinstance(each, bytes) else orjson.dumps(each) for each in lines]
    days = pa.array([TODAY] * len(texts), pa.string())
    return pa.RecordBatch.from_arrays([days, pa.array(texts, pa.binary())], ["day", "line"])


def checked(lines: list[Any], schema: Schema) -> pa.RecordBatch:
    """The rows in columns, as a Parquet file of the same log has them."""
    return _columns(LineReader(counted_attributes(schema)).read(batch_of(lines)))


def found_in(lines: list[Any], schema: Schema, sample: int = 100) -> Found:
    count = _counter(LineReader(counted_attributes(schema)), counted_attributes(schema), sample, 3)
    return rows_of(count(iter([batch_of(lines)])))


def found_in_columns(rows: pa.RecordBatch, schema: Schema, sample: int = 100) -> Found:
    count = _counter(TypedReader(counted_attributes(schema)), counted_attributes(schema), sample, 3)
    return rows_of(count(iter([rows])))


def rows_of(batches: Batches) -> Found:
    """The malformed rows, and the rows of the tables that are sent."""
    found: Found = []
    for row in pa.Table.from_batches(batches).to_pylist():
        more = unpacked(row["data"]).to_pylist() if row["data"] else [row]
        found += ({"kind": row["kind"], **each} for each in more)
    return found


def problems(found: Found) -> list[str]:
    return [row["problem"] for row in found if row["kind"] == BAD]


def good(found: Found) -> int:
    return sum(row["rows"] for row in found if row["kind"] == DAY)


def in_any_order(found: Found) -> list[str]:
    return sorted(map(str, found))


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
    (b"not JSON at all", "not_json"),
    (b'{"time": 1, "requ', "not_json"),
    (GOOD_START + b'{"bid.floor": NaN}}', "not_json"),
    (GOOD_START + b'{"country": "U', "not_json"),
    (GOOD_START + b'{"country": 5}}', "wrong_type"),
    (GOOD_START + b'{"country": "U\\u0000S"}}', "wrong_type"),
    (GOOD_START + b'{"page.categories": ["\\u0000"]}}', "wrong_type"),
    (GOOD_START + b'{"country": "\\ud800"}}', "wrong_type"),
    (GOOD_START.replace(b'"r"', b'"\\ud800"') + b'{"bid.floor": 1e999}}', "wrong_type"),
    (GOOD_START + b'{"age": 9223372036854775808}}', "wrong_type"),
    (GOOD_START + b'{"age": "thirty"}}', "wrong_type"),
    (GOOD_START + b'{"age": 30.5}}', "wrong_type"),
    (GOOD_START + b'{"secure": 1}}', "wrong_type"),
    (GOOD_START + b'{"user.segments": 7}}', "wrong_type"),
    (GOOD_START + b'{"user.segments": [7, null]}}', "null_element"),
    (GOOD_START + b'{"bid.floor": 9007199254740993}}', "wrong_type"),
    (GOOD_START + b'{"bid.floor": 1%s}}' % (b"0" * 400), "wrong_type"),
    (GOOD_START + b'{"bid.floor": 1e999}}', "not_finite"),
    (GOOD_START.replace(b"1794830400", b"1e400") + b"{}}", "not_finite"),
    (GOOD_START.replace(b"1794830400", b"1e300") + b"{}}", "other_day"),
    (GOOD_START.replace(b"1794830400", b"-1e9") + b"{}}", "other_day"),
    (GOOD_START.replace(b"1794830400", b"1794916800") + b"{}}", "other_day"),
    (GOOD_START.replace(b"1794830400", b"1794873599.9") + b"{}}", None),
    (GOOD_START.replace(b"1794830400", b"1794873600") + b"{}}", "other_day"),
    (GOOD_START.replace(b"1794830400", b"null") + b'{"bid.floor": 1}}', "no_time"),
    (GOOD_START.replace(b'"r"', b"5") + b"{}}", "wrong_type"),
    (GOOD_START.replace(b'"r"', b'""') + b"{}}", "no_request_id"),
    (GOOD_START.replace(b'"request_id"', b'"id"') + b"{}}", "no_request_id"),
    (GOOD_START + b"null}", "no_attributes"),
    (GOOD_START.replace(b'"sample_rate": 1', b'"sample_rate": 0') + b"{}}", "sample_rate"),
    (GOOD_START.replace(b'"sample_rate": 1', b'"sample_rate": 1.5') + b"{}}", "sample_rate"),
    (GOOD_START.replace(b'"sample_rate": 1', b'"sample_rate": null') + b"{}}", "sample_rate"),
]


@pytest.mark.parametrize("together", [True, False])
def test_every_line_is_counted_once_as_good_or_with_its_problem(
    schema: Schema, together: bool
) -> None:
    batches = [LINES] if together else [[each] for each in LINES]
    for some in batches:
        found = found_in([text for text, _ in some], schema)
        bad = [(text.decode(errors="replace"), problem) for text, problem in some if problem]
        assert [(row["record"], row["problem"]) for row in found if row["kind"] == BAD] == bad
        assert good(found) + len(bad) == len(some)
        rows = checked([text for text, _ in some], schema)
        assert sorted(map(str, rows["problem"].to_pylist())) == sorted(
            str(each) for _, each in some
        )
        assert rows.schema.names == CHECKED_COLUMNS


def test_columns_give_what_their_lines_give(schema: Schema) -> None:
    lines = [
        line({"country": "US", "age": -1, "bid.floor": 1, "secure": True}, id="a"),
        line({"country": "US", "bid.floor": -0.0, "user.segments": [3, 7, 3]}, id="b"),
        line({"page.categories": [], "user.segments": [7], "bid.floor": 0}, id="c", builtins=None),
        line({"page.categories": ["x", "x"], "secure": False}, id="d", sample_rate=0.3),
        line({"age": None, "user.id": "somebody"}, id="e", sample_rate=0.3),
    ]
    found = found_in(lines, schema)
    assert in_any_order(found_in_columns(checked(lines, schema), schema)) == in_any_order(found)
    values = {(row["name"], row["value"]): row for row in found if row["kind"] == VALUE}
    assert values["bid.floor", "0.0"]["rows"] == 2
    assert values["user.segments", "3"]["rows"] == 1
    assert values["page.categories", "x"]["weight"] == 3333333
    assert not [row for row in found if "user.id" in str(row)]


def test_every_row_may_have_a_weight_of_its_own(schema: Schema) -> None:
    lines = [
        line(
            {"age": n % 3, "user.segments": [n % 2, 5], "secure": n > 9}, str(n), sample_rate=1 / n
        )
        for n in range(1, 100)
    ]
    found = found_in(lines, schema)
    weights: Counter[tuple[str, str]] = Counter()
    for row in found:
        if row["kind"] == VALUE:
            weights[row["name"], row["value"]] += row["weight"]
    assert weights["user.segments", "5"] == 1_000_000 * sum(range(1, 100))
    assert weights["age", "0"] == 1_000_000 * sum(range(3, 100, 3))
    assert weights["secure", "false"] == 1_000_000 * sum(range(1, 10))
    assert in_any_order(found_in_columns(checked(lines, schema), schema)) == in_any_order(found)


def test_values_of_columns_that_the_service_would_refuse(schema: Schema) -> None:
    rows = checked([line({"bid.floor": 1.0, "country": "x"}, id=str(n)) for n in range(7)], schema)
    wrong: list[tuple[str, Any]] = [
        ("user.segments", [7, None]),
        ("page.categories", ["a\0"]),
        ("country", "\0"),
        ("bid.floor", float("nan")),
        ("bid.floor", float("-inf")),
    ]
    changed = rows.to_pylist()
    for place, (name, value) in enumerate(wrong):
        changed[place]["attributes"][name] = value
    changed[5]["attributes"] = None
    batch = pa.RecordBatch.from_pylist(changed, rows.schema)
    found = found_in_columns(batch, schema)
    names = ["null_element", "wrong_type", "wrong_type", "not_finite", "not_finite"]
    assert problems(found) == [*names, "no_attributes"]
    assert good(found) == 1
    record = orjson.loads(next(row["record"] for row in found if row["kind"] == BAD))
    assert (record["time"], record["attributes"]["user.segments"]) == (NOON, [7, None])


def test_sums_beyond_64_bits_are_an_error(schema: Schema) -> None:
    lines = [line({"age": 1}, id=str(n), sample_rate=1e-9) for n in range(9224)]
    with pytest.raises(OverflowError):
        found_in(lines, schema)


def test_a_task_samples_the_least_hashes_once_each(schema: Schema) -> None:
    ids = [f"request {number % 300}" for number in range(400)]
    lines = [line({"age": place}, id=id) for place, id in enumerate(ids)]
    count = _counter(LineReader(counted_attributes(schema)), counted_attributes(schema), 20, 3)
    samples = []
    for some in (lines, lines[::-1]):
        halves = iter([batch_of(some[:150]), batch_of(some[150:])])
        found = rows_of(count(halves))
        samples.append({row["lot"]: row["text"] for row in found if row["kind"] == SAMPLE})
    assert samples[0] == samples[1]
    assert len(samples[0]) == 20


def test_versions_addresses_and_points_are_checked_and_counted() -> None:
    schema = Schema(
        [Attribute("os", "version"), Attribute("net", "ip"), Attribute("place", "point")]
    )
    values: list[dict[str, Any]] = [
        {"os": "14.2", "net": "10.0.0.1", "place": [52.5, 13.4]},
        {"os": "14.2", "place": [1, 2]},
        {"os": "14.x"},
        {"net": "10.0.0.0/8"},
        {"place": [91, 0]},
    ]
    lines = [line(each) for each in values]
    found = found_in(lines, schema)
    assert problems(found) == ["wrong_type"] * 3
    counted = {(row["name"], row["value"]): row["rows"] for row in found if row["kind"] == VALUE}
    assert counted == {("os", "14.2"): 2, ("net", "10.0.0.1"): 1}
    assert [row["rows"] for row in found if row["kind"] == "present"] == [2]
