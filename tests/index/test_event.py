"""Events: values that are accepted, dropped or refused, with the exact messages."""

import math

import pytest

from index import Index, Query
from index.event import EventError, check_event
from tests.index.conftest import Make
from tests.index.language.test_parser import SCHEMA


def test_values_are_taken_by_type() -> None:
    event = {
        "country": "US",
        "age": 30,
        "price": 3,
        "vip": False,
        "segments": [3, 1, 3],
        "tags": (),
    }
    checked, unknown = check_event(event, SCHEMA)
    assert checked == {
        "country": "US",
        "age": 30,
        "price": 3.0,
        "vip": False,
        "segments": frozenset({1, 3}),
        "tags": frozenset(),
    }
    assert type(checked["price"]) is float
    assert unknown == ()


def test_null_is_missing_and_unknown_names_are_reported() -> None:
    assert check_event({"age": None, "colour": "red"}, SCHEMA) == ({}, ("colour",))


def test_minus_zero_is_zero() -> None:
    checked, _ = check_event({"price": -0.0}, SCHEMA)
    assert math.copysign(1, checked["price"]) == 1.0  # type: ignore[arg-type]


# event, attribute, code, message, place in the list
BROKEN: list[tuple[object, str, str, str, int | None]] = [
    (None, "", "event.shape", "an event is an object of attributes, not null", None),
    ([], "", "event.shape", "an event is an object of attributes, not a list", None),
    ("age", "", "event.shape", "an event is an object of attributes, not a string", None),
    (7, "", "event.shape", "an event is an object of attributes, not an int", None),
    ({7: 1}, "", "event.name", "an attribute's name is a string, not an int", None),
    ({None: 1}, "", "event.name", "an attribute's name is a string, not null", None),
    ({"age": "30"}, "age", "type.mismatch", "expected an int, got a string", None),
    ({"age": 30.0}, "age", "type.mismatch", "expected an int, got a float", None),
    ({"age": True}, "age", "type.mismatch", "expected an int, got a bool", None),
    ({"age": [30]}, "age", "type.mismatch", "expected an int, got a list", None),
    ({"age": {"v": 30}}, "age", "type.mismatch", "expected an int, got an object", None),
    ({"age": b"30"}, "age", "type.mismatch", "expected an int, got a bytes", None),
    ({"age": 2**63}, "age", "value.int_range", "9223372036854775808 does not fit in 64 bits", None),
    ({"age": -(2**63) - 1}, "age", "value.int_range",
     "-9223372036854775809 does not fit in 64 bits", None),
    ({"age": 10**5000}, "age", "value.int_range", "this integer does not fit in 64 bits", None),
    ({"price": "1"}, "price", "type.mismatch", "expected a float, got a string", None),
    ({"price": False}, "price", "type.mismatch", "expected a float, got a bool", None),
    ({"price": math.nan}, "price", "value.not_finite", "NaN and infinities are not allowed", None),
    ({"price": math.inf}, "price", "value.not_finite", "NaN and infinities are not allowed", None),
    ({"price": -math.inf}, "price", "value.not_finite", "NaN and infinities are not allowed", None),
    ({"price": 2**53 + 1}, "price", "value.inexact",
     "a double cannot hold 9007199254740993 exactly", None),
    ({"price": 10**400}, "price", "value.inexact", "a double cannot hold this integer exactly",
     None),
    ({"vip": 1}, "vip", "type.mismatch", "expected a bool, got an int", None),
    ({"vip": "true"}, "vip", "type.mismatch", "expected a bool, got a string", None),
    ({"country": 5}, "country", "type.mismatch", "expected a string, got an int", None),
    ({"country": ["US"]}, "country", "type.mismatch", "expected a string, got a list", None),
    ({"country": "a\0"}, "country", "value.nul", "a string must not contain the NUL character",
     None),
    ({"country": "\udc00"}, "country", "value.surrogate",
     "a string must not contain a lone surrogate", None),
    ({"segments": 5}, "segments", "type.mismatch", "expected an int list, got an int", None),
    ({"segments": {1, 2}}, "segments", "type.mismatch", "expected an int list, got a set", None),
    ({"segments": "12"}, "segments", "type.mismatch", "expected an int list, got a string", None),
    ({"segments": [1, None]}, "segments", "type.mismatch", "expected an int, got null", 1),
    ({"segments": [1, "2"]}, "segments", "type.mismatch", "expected an int, got a string", 1),
    ({"segments": [True]}, "segments", "type.mismatch", "expected an int, got a bool", 0),
    ({"segments": [1.0]}, "segments", "type.mismatch", "expected an int, got a float", 0),
    ({"segments": [[1]]}, "segments", "type.mismatch", "expected an int, got a list", 0),
    ({"segments": [2**63]}, "segments", "value.int_range",
     "9223372036854775808 does not fit in 64 bits", 0),
    ({"tags": ["a", 1]}, "tags", "type.mismatch", "expected a string, got an int", 1),
    ({"tags": ["a", "\0"]}, "tags", "value.nul", "a string must not contain the NUL character", 1),
]  # fmt: skip


@pytest.mark.parametrize(("event", "attribute", "code", "message", "element"), BROKEN)
def test_a_broken_event_says_what_and_where(
    event: dict[str, object], attribute: str, code: str, message: str, element: int | None
) -> None:
    with pytest.raises(EventError) as caught:
        check_event(event, SCHEMA)
    (problem,) = caught.value.problems
    assert (problem.attribute, problem.code, problem.message, problem.element) == (
        attribute,
        code,
        message,
        element,
    )


def test_the_events_above_are_many() -> None:
    assert len(BROKEN) >= 30


def test_all_problems_are_reported_together() -> None:
    with pytest.raises(EventError) as caught:
        check_event({"age": "x", "country": "US", "segments": [1, 2.5], "vip": 0}, SCHEMA)
    assert str(caught.value) == (
        "age: expected an int, got a string; segments[1]: expected an int, got a float; "
        "vip: expected a bool, got an int"
    )


@pytest.fixture
def index(make: Make) -> Index:
    index = make()
    index.insert(1, "vip", 1)
    index.insert(2, "age = 5 and country = 'é'", 2)
    return index


def test_attributes_come_as_json(index: Index) -> None:
    sent = '{"vip": true, "age": 4, "age": 5, "country": "é"}'.encode()
    assert index.match(sent) == [1, 2]
    assert index.top(sent, 1, total=True) == ([2], 2)
    assert index.ask(b'{"vip": true}', Query(builtins={"age": 6})).ids == [1]
    found = index.ask(b"{}", Query(limit=3, total=True, builtins={"vip": True}))
    assert (found.ids, found.total) == ([1], 1)


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (b"", "event.json"),
        (b"{", "event.json"),
        (b'{"age": NaN}', "event.json"),
        (b'{"age": -Infinity}', "event.json"),
        (b'\xff{"age": 1}', "event.json"),
        (b'\xef\xbb\xbf{"age": 1}', "event.json"),
        ('{"age": 1}'.encode("utf-16"), "event.json"),
        (b"[" * 100_000, "event.json"),
        (b"[]", "event.shape"),
        (b"null", "event.shape"),
        (b'{"age": 1.0}', "type.mismatch"),
    ],
)
def test_what_is_no_event_is_refused(index: Index, sent: bytes, code: str) -> None:
    for ask in (index.match, index.top):
        with pytest.raises(EventError) as error:
            ask(sent)
        assert [problem.code for problem in error.value.problems] == [code]
