"""A row as a line of JSON."""

from typing import Any

import orjson
import pytest

from app.observability.impressions.row import Unencodable, directory_of, encode, weight_of
from index import Attribute, Index, Query, Schema
from tests.app.observability.impressions.rows import HOUR, NOON, row


def anything(_: str) -> bool:
    return True


def test_a_row_has_all_that_is_known() -> None:
    line = encode(row(5), anything)
    assert line.endswith(b"\n")
    assert orjson.loads(line) == {
        "time": NOON,
        "request_id": "r5",
        "route": "match",
        "attributes": {"country": "US", "n": 5},
        "builtins": {"now.hour": 12, "now.weekday": 4},
        "matches": [7, 8],
        "total": 2,
        "epoch": "e1",
        "rev": 42,
        "sample_rate": 0.5,
    }


def test_what_may_not_be_logged_and_what_is_missing_is_left_out() -> None:
    sent = {"country": "US", "age": None, "user.id": "x"}
    line = encode(row(attributes=sent), lambda name: name != "user.id")
    assert orjson.loads(line)["attributes"] == {"country": "US"}


def test_the_answer_comes_as_json() -> None:
    index = Index(Schema([Attribute("n", "int")]))
    index.insert(9, "n = 1", score=3)
    index.insert(4, "n > 0")
    query = Query(limit=1, total=True)
    answer = index.ask({"n": 1}, query).to_json(b',"epoch":"e1","rev":42}')
    line = encode(row(attributes={"n": 1, "m": [1.5, "a\n"]}, answer=answer), anything)
    assert line.count(b"\n") == 1
    read = orjson.loads(line)
    assert read["attributes"] == {"n": 1, "m": [1.5, "a\n"]}
    assert (read["matches"], read["total"]) == ([9], 2)
    answer = index.ask({"n": 1}, Query(limit=1)).to_json(b"}")
    read = orjson.loads(encode(row(attributes={"n": 1}, answer=answer), anything))
    assert read["matches"] == [9]
    assert "total" not in read


@pytest.mark.parametrize(
    "changes",
    [
        {"attributes": {"a": 2**70}},
        {"attributes": {"a": "\ud800"}},
        {"attributes": {"a": object()}},
        {"answer": b"{"},
        {"answer": b"[1]"},
        {"answer": b"{}"},
        {"answer": b'{"matches": [1], "total": 1}'},
    ],
)
def test_what_is_no_row_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(Unencodable):
        encode(row(**changes), anything)


def test_the_partition_is_by_utc() -> None:
    assert directory_of(NOON) == HOUR
    assert directory_of(NOON - 1) == "dt=2025-11-20/hour=11"
    assert directory_of(0) == "dt=1970-01-01/hour=00"
    for wrong in (float("nan"), float("inf"), 1e30):
        with pytest.raises(Unencodable):
            directory_of(wrong)


def test_a_row_weighs_what_its_attributes_weigh() -> None:
    empty = weight_of(row(attributes={}))
    assert weight_of(row(attributes={"a": "x" * 1000})) > empty + 1000
    assert weight_of(row(attributes={"a": [1] * 1000})) > empty + 8000
    assert weight_of(row(size=1000)) > empty + 1000
