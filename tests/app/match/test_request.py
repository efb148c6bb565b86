"""What a match takes, and how it says what is wrong."""

import json

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors.http_errors import HttpError, Invalid, MalformedJson
from app.match.request import MAX_DEPTH, MAX_LIST, MatchRequest, read
from index import Exclude


def body(**fields: object) -> bytes:
    return orjson.dumps({"attributes": {"age": 30}} | fields)


def refusal(sent: bytes) -> tuple[str, str]:
    with pytest.raises(Invalid) as caught:
        read(sent)
    (item,) = caught.value.errors
    return item.pointer, item.code


def test_attributes_are_enough() -> None:
    assert read(body()) == MatchRequest({"age": 30})


def test_everything_can_be_said() -> None:
    sent = body(
        limit=3,
        exclude={"campaigns": [7], "advertisers": [1, 2]},
        min_rev=41,
        tmax_ms=20,
        log=False,
        strict=True,
        fields=["external_id", "advertiser_id"],
        total=True,
    )
    exclude = Exclude(ids=[7], groups=[1, 2])
    more = ("external_id", "advertiser_id")
    assert read(sent) == MatchRequest({"age": 30}, 3, exclude, 41, 20.0, False, True, more, True)


@pytest.mark.parametrize(
    ("fields", "pointer", "code"),
    [
        ({"limit": 0}, "/limit", "number.range"),
        ({"limit": 1001}, "/limit", "number.range"),
        ({"limit": True}, "/limit", "number.range"),
        ({"limit": 2.0}, "/limit", "number.range"),
        ({"limit": None}, "/limit", "number.range"),
        ({"min_rev": -1}, "/min_rev", "number.range"),
        ({"tmax_ms": 0}, "/tmax_ms", "number.range"),
        ({"tmax_ms": "20"}, "/tmax_ms", "number.range"),
        ({"tmax_ms": True}, "/tmax_ms", "number.range"),
        ({"log": 1}, "/log", "type.bool"),
        ({"strict": None}, "/strict", "type.bool"),
        ({"fields": "external_id"}, "/fields", "type.list"),
        ({"fields": ["external_id", "name"]}, "/fields/1", "value.unknown"),
        ({"fields": [["external_id"]]}, "/fields/0", "value.unknown"),
        ({"exclude": []}, "/exclude", "type.object"),
        ({"exclude": {"campaigns": 7}}, "/exclude/campaigns", "type.list"),
        ({"exclude": {"campaigns": [7, -1]}}, "/exclude/campaigns/1", "number.range"),
        ({"exclude": {"advertisers": [True]}}, "/exclude/advertisers/0", "number.range"),
        ({"exclude": {"ids": []}}, "/exclude/ids", "field.unknown"),
        ({"limt": 3}, "/limt", "field.unknown"),
        ({"attributes": None}, "/attributes", "type.object"),
        ({"attributes": {"a/b": [0] * (MAX_LIST + 1)}}, "/attributes/a~1b", "list.length"),
    ],
)
def test_what_is_wrong_is_named(fields: dict[str, object], pointer: str, code: str) -> None:
    assert refusal(body(**fields)) == (pointer, code)


def test_a_body_is_an_object_with_attributes() -> None:
    assert refusal(b"[]") == ("", "type.object")
    assert refusal(b"{}") == ("/attributes", "type.object")


def test_all_that_is_wrong_is_told() -> None:
    with pytest.raises(Invalid) as caught:
        read(body(attributes=[], limit=0, log=3))
    assert [item.pointer for item in caught.value.errors] == ["/attributes", "/limit", "/log"]


@pytest.mark.parametrize("sent", [b"", b"{", b"nul", b'{"attributes": {"a": NaN}}', b"\xff"])
def test_what_is_not_json_is_told_apart(sent: bytes) -> None:
    with pytest.raises(MalformedJson):
        read(sent)


def test_depth_is_bounded() -> None:
    def nested(levels: int) -> bytes:
        return b'{"attributes":{"a":' + b"[" * levels + b"]" * levels + b"}}"

    read(nested(MAX_DEPTH - 2))
    assert refusal(nested(MAX_DEPTH - 1)) == ("", "json.depth")
    assert refusal(b'{"attributes":{"b":{},"a":' + b"[" * 400 + b"]" * 400 + b"}}")[1] == (
        "json.depth"
    )


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(_JSON | st.fixed_dictionaries({"attributes": _JSON, "limit": _JSON, "exclude": _JSON}))
def test_nothing_but_a_refusal_is_raised(sent: object) -> None:
    status = 200
    try:
        read(json.dumps(sent, ensure_ascii=True).encode())
    except HttpError as refused:
        status = refused.status
    assert status in (200, 400, 422)
