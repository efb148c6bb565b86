"""The outline of a bid request has to be right, and nothing else."""

import json

import pytest

from app.openrtb import MalformedBidRequest, parse
from app.openrtb.request import MOST_IMPS
from tests.app.openrtb.exchange import bid_request, event, parsed


@pytest.mark.parametrize(
    ("body", "pointer", "code"),
    [
        (b"", "", "json.malformed"),
        (b"{", "", "json.malformed"),
        (b"\xff", "", "json.malformed"),
        (b"[" * 5000, "", "json.malformed"),
        (b'{"id":"\\ud800"', "", "json.malformed"),
        (b"[]", "", "openrtb.object"),
        (b"null", "", "openrtb.object"),
        (b'{"imp":[{"id":"1"}]}', "/id", "openrtb.id"),
        (b'{"id":7.5,"imp":[{"id":"1"}]}', "/id", "openrtb.id"),
        (b'{"id":true,"imp":[{"id":"1"}]}', "/id", "openrtb.id"),
        (b'{"id":"","imp":[{"id":"1"}]}', "/id", "openrtb.id"),
        (b'{"id":"r"}', "/imp", "openrtb.imp"),
        (b'{"id":"r","imp":[]}', "/imp", "openrtb.imp"),
        (b'{"id":"r","imp":{"id":"1"}}', "/imp", "openrtb.imp"),
        (b'{"id":"r","imp":[3,{}]}', "/imp/0", "openrtb.imp"),
        (b'{"id":"r","imp":[{},3]}', "/imp/0/id", "openrtb.id"),
    ],
)
def test_a_malformed_one_is_refused_with_its_place(body: bytes, pointer: str, code: str) -> None:
    with pytest.raises(MalformedBidRequest) as refused:
        parse(body)
    assert (refused.value.pointer, refused.value.code) == (pointer, code)


def test_an_imp_is_a_search_so_their_number_is_bounded() -> None:
    imps = [{"id": str(n)} for n in range(MOST_IMPS)]
    assert len(parsed(bid_request(imp=imps)).imps) == MOST_IMPS
    with pytest.raises(MalformedBidRequest, match=f"at most {MOST_IMPS} imps"):
        parsed(bid_request(imp=[*imps, {"id": "more"}]))


def test_what_an_exchange_says_beside_the_ad() -> None:
    request = parsed(bid_request(tmax=120, test=1))
    assert (request.deadline_ms, request.test, request.ignored) == (120, True, {})
    request = parsed(bid_request())
    assert (request.deadline_ms, request.test) == (None, False)
    request = parsed(bid_request(tmax="120", test=0))
    assert (request.deadline_ms, request.test, request.tolerated) == (120, False, {"tmax": 1})
    request = parsed(bid_request(tmax="soon"))
    assert (request.deadline_ms, request.ignored) == (None, {"tmax": 1})


def test_a_bad_imp_is_left_out_and_a_repeated_one_is_answered_once() -> None:
    imps: list[object] = [{"id": "1", "n": 1}, 3, {}, {"id": ""}, {"id": "1"}, {"id": 2}, {"id": 1}]
    request = parsed(bid_request(imp=imps))
    assert [imp.id for imp in request.imps] == ["1", 2]
    assert request.imps[0].document["n"] == 1
    assert request.ignored == {"imp": 3, "imp.id": 2}
    assert request.tolerated == {"imp.id": 1}


def test_numbers_as_ids_are_taken_and_counted() -> None:
    request = parsed({"id": 7, "imp": [{"id": 1}]})
    assert (request.id, request.imps[0].id) == (7, 1)
    assert request.tolerated == {"id": 1, "imp.id": 1}


@pytest.mark.parametrize(
    ("name", "read"),
    [
        (rb"\ud800", "\ufffd"),
        (rb"a\udc00\ud83d\ude00\uD83D", "a\ufffd😀\ufffd"),
        (rb"\\ud800 \" \n \ud800", '\\ud800 " \n \ufffd'),
        (b"caf\xe9", "caf\ufffd"),
        ("é".encode() + b"\xf0\x9f", "é\ufffd"),
    ],
)
def test_text_that_is_not_unicode_is_read_as_far_as_it_is(name: bytes, read: str) -> None:
    request = parse(b'{"id":"r","imp":[{"id":"1"}],"app":{"name":"%b"}}' % name)
    assert request.document["app"]["name"] == read
    assert request.tolerated == {"body": 1}


def test_a_byte_order_mark_does_not_matter() -> None:
    request = parse("\ufeff".encode() + json.dumps(bid_request()).encode())
    assert request.id == "r1"


def test_missing_everything_is_a_request_too() -> None:
    assert event(bid_request()) == {}
    nulls = dict.fromkeys(("site", "app", "dooh", "device", "user", "regs", "bcat", "badv", "cur"))
    assert event(bid_request(**nulls)) == {}
    empty: dict[str, object] = {name: {} for name in ("site", "app", "device", "user", "regs")}
    assert event(bid_request(**empty)) == {}


def test_repeated_keys_and_unknown_fields_do_not_matter() -> None:
    body = b'{"id":"a","id":"b","imp":[{"id":"1","what":{"deep":[1]}}],"new":[null],"geo":7}'
    assert parse(body).id == "b"
    assert "new" in json.loads(body)
