"""Answers from JSON are the same on every engine."""

import pytest

from index import EventError, Index, Query
from tests.index.language.test_parser import SCHEMA


@pytest.fixture(params=["native", "reference", "scan"])
def index(request: pytest.FixtureRequest) -> Index:
    index = Index(SCHEMA, engine=request.param)
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
