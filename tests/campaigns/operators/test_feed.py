"""Operators in the feed: loaded, applied, removed, and poisoned."""

import orjson

from campaigns.feed.apply import apply
from campaigns.feed.view import View
from campaigns.log.changes import OPERATOR, Change
from campaigns.operators.model import OperatorRecord
from index import Limits, Query

BRAND_SAFETY = OperatorRecord(
    name="brand_safety", type="http", url="http://x/", arguments=("string",), result="float"
)
TREE = [1, [">=", "call brand_safety(page)", 0.8]]


def change(rev: int, payload: bytes) -> Change:
    return Change(rev, OPERATOR, "brand_safety", "0" * 16, payload, 0.0)


def view() -> View:
    made = View.empty({"page": "string"}, Limits())
    made.index.insert_json([(1, orjson.dumps(TREE))])
    return made


def test_an_operator_comes_and_goes_with_changes() -> None:
    here = view()
    apply(here, [change(1, BRAND_SAFETY.change().payload)])
    assert here.operators["brand_safety"].signature == BRAND_SAFETY.signature
    assert here.operators["brand_safety"].url == "http://x/"
    assert str(here.index.tree(1)) == "call brand_safety(page) >= 0.8"
    apply(here, [change(2, b"null")])
    assert here.operators == {}
    assert here.index.candidates({"page": "a"}, Query()).pending == [1]
    assert here.index.match({"page": "a"}) == []


def test_an_operator_that_cannot_be_applied_is_not_called() -> None:
    here = view()
    apply(here, [change(1, BRAND_SAFETY.change().payload), change(2, b'{"name": 1}')])
    assert here.operators == {}
    assert (OPERATOR, "brand_safety") in here.poisoned
    apply(here, [change(3, BRAND_SAFETY.change().payload)])
    assert here.poisoned == {}
