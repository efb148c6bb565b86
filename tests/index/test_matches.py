"""The bytes of an answer, on every engine."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from index import Attribute, EventError, EventProblem, Exclude, Index, Query, Schema
from tests.index.conftest import Make

SCHEMA = Schema(
    [Attribute("vip", "bool"), Attribute("now.hour", "int"), Attribute("now.weekday", "int")]
)
NOW: dict[str, object] = {"now.hour": 13, "now.weekday": 5}
TAIL = b',"epoch":"5f3a","rev":42}'


def answer(
    index: Index,
    event: Mapping[str, object] | bytes,
    limit: int = 10,
    tail: bytes = b"}",
    **query: Any,
) -> bytes:
    return index.ask(event, Query(limit=limit, total=True, **query)).to_json(tail)


def test_the_contract_byte_by_byte(make: Make) -> None:
    index = make()
    assert answer(index, {}) == b'{"matches":[],"total":0}'
    index.insert(7, "vip and now.hour between 9 and 17", (5 << 53) + 1_200_000, group=3)
    index.insert(2**63 - 1, "vip", 2**63 - 1, group=4)
    index.insert(0, "vip", group=5)
    for event in ({"vip": True}, b'{"vip": true}'):
        assert answer(index, event, 2, TAIL, builtins=NOW) == (
            b'{"matches":[{"campaign_id":9223372036854775807,"priority":1023,'
            b'"bid_micros":9007199254740991},'
            b'{"campaign_id":7,"priority":5,"bid_micros":1200000}],"total":3,'
            b'"epoch":"5f3a","rev":42}'
        )
        exclude = Exclude([0], [4])
        less = answer(index, event, 1, TAIL, at=0, builtins=NOW, exclude=exclude, floor=1)
        assert json.loads(less) == {
            "matches": [{"campaign_id": 7, "priority": 5, "bid_micros": 1200000}],
            "total": 1,
            "epoch": "5f3a",
            "rev": 42,
        }
        assert answer(index, event, 0) == b'{"matches":[],"total":2}'


def test_what_is_built_in_cannot_be_sent(make: Make) -> None:
    index = make()
    message = "it is built in and cannot be sent"
    expected = [EventProblem(name, "event.builtin", message) for name in NOW]
    for event in ({"vip": True, **NOW}, json.dumps(NOW).encode()):
        with pytest.raises(EventError) as error:
            answer(index, event, builtins=NOW)
        assert error.value.problems == expected
    for fine in ({"now.hour": None}, b'{"now.hour": null}'):
        assert answer(index, fine, builtins=NOW) == b'{"matches":[],"total":0}'
    assert answer(index, {"now.hour": 1}) == b'{"matches":[],"total":0}'


def test_wrong_events_are_refused_as_elsewhere(make: Make) -> None:
    index = make()
    wrong: list[tuple[dict[str, object] | bytes, str]] = [
        (b"", "event.json"),
        (b'{"vip": NaN}', "event.json"),
        (b'{"vip": "\xff"}', "event.json"),
        (b"[1]", "event.shape"),
        (b'{"vip": 1}', "type.mismatch"),
        ({"vip": 1}, "type.mismatch"),
    ]
    for event, code in wrong:
        with pytest.raises(EventError) as error:
            answer(index, event, builtins=NOW)
        assert [problem.code for problem in error.value.problems] == [code], event
    with pytest.raises(EventError, match=r"now\.hour: expected an int"):
        answer(index, {}, builtins={"now.hour": "noon"})


def test_without_a_total_there_is_none_in_the_answer(make: Make) -> None:
    index = make()
    index.insert(7, "vip", (5 << 53) + 3)
    found = index.ask({"vip": True}, Query(limit=1))
    assert found.total is None
    expected = b'{"matches":[{"campaign_id":7,"priority":5,"bid_micros":3}]}'
    assert found.to_json(b"}") == expected


def test_only_a_query_with_a_limit_has_an_answer_in_json(make: Make) -> None:
    with pytest.raises(ValueError, match="only a query with a limit"):
        make().ask({}, Query()).to_json(b"}")


def test_any_mapping_is_an_event() -> None:
    class Lazy(dict[str, object]):
        pass

    index = Index(SCHEMA, engine="native")
    index.insert(1, "vip")
    assert json.loads(answer(index, Lazy(vip=True)))["total"] == 1
