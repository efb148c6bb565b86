"""The oracle itself, compared with Kleene's truth tables written out by hand."""

import itertools

import pytest

from index import Attribute, Schema, parse
from index.event import check_event
from index.scan import evaluate
from tests.index.language.test_parser import SCHEMA

T, F, U = True, False, None
VALUES = (T, F, U)

# Rows and columns in the order true, false, unknown.
TABLES: dict[str, list[list[bool | None]]] = {
    "and": [[T, F, U], [F, F, F], [U, F, U]],
    "or": [[T, T, T], [T, F, U], [T, U, U]],
    "xor": [[F, T, U], [T, F, U], [U, U, U]],
    "xnor": [[T, F, U], [F, T, U], [U, U, U]],
}


@pytest.mark.parametrize("word", TABLES)
def test_kleene_tables(word: str) -> None:
    schema = Schema([Attribute("p", "bool"), Attribute("q", "bool")])
    tree = parse(f"p {word} q", schema)
    for (i, p), (j, q) in itertools.product(enumerate(VALUES), repeat=2):
        checked, _ = check_event({"p": p, "q": q}, schema)
        assert evaluate(tree, checked) is TABLES[word][i][j], (p, word, q)


def test_not() -> None:
    schema = Schema([Attribute("p", "bool")])
    tree = parse("not p", schema)
    assert [evaluate(tree, check_event({"p": p}, schema)[0]) for p in VALUES] == [F, T, U]


@pytest.mark.parametrize(
    ("text", "event", "value"),
    [
        ("country = 'US'", {"country": "US"}, T),
        ("country = 'US'", {"country": "us"}, F),
        ("country = 'US'", {}, U),
        ("country != 'US'", {"country": "CA"}, T),
        ("country != 'US'", {}, U),
        ("not (country != 'US')", {}, U),
        ("country != 'US' or country is null", {}, T),
        ("country is null", {}, T),
        ("country is null", {"country": ""}, F),
        ("country is not null", {}, F),
        ("country < 'b'", {"country": "a\U0010ffff"}, T),
        ("country > '\uffff'", {"country": "\U00010000"}, T),
        ("country starts with 'ab'", {"country": "abc"}, T),
        ("country ends with 'bc'", {"country": "abc"}, T),
        ("country contains 'b'", {"country": "abc"}, T),
        ("country contains 'x'", {"country": "abc"}, F),
        ("age between 1 and 3", {"age": 3}, T),
        ("age between 1 and 3", {"age": 4}, F),
        ("age not in (1, 2)", {"age": 3}, T),
        ("age not in (1, 2)", {"age": 1}, F),
        ("price = 0.0", {"price": -0.0}, T),
        ("vip", {"vip": True}, T),
        ("vip", {"vip": False}, F),
        ("vip", {}, U),
        ("segments any of (1, 2)", {"segments": [2, 3]}, T),
        ("segments any of (1, 2)", {"segments": []}, F),
        ("segments any of (1, 2)", {}, U),
        ("segments none of (1, 2)", {"segments": [3]}, T),
        ("segments none of (1, 2)", {"segments": []}, T),
        ("segments none of (1, 2)", {}, U),
        ("segments all of (1, 2)", {"segments": [1, 2, 3]}, T),
        ("segments all of (1, 2)", {"segments": [1]}, F),
        ("segments all of (1, 2)", {"segments": []}, F),
        ("not (segments all of (1, 2))", {"segments": []}, T),
        ("not (segments all of (1, 2))", {}, U),
        ("segments is empty", {"segments": []}, T),
        ("segments is empty", {"segments": [1]}, F),
        ("segments is empty", {}, U),
        ("segments is not empty", {}, U),
        ("segments is null", {"segments": []}, F),
        ("false and vip", {}, F),
        ("true or vip", {}, T),
        ("vip xor true", {}, U),
        ("true xnor true xnor false", {}, F),
        ("true xor false xor true", {}, F),
    ],
)
def test_meaning(text: str, event: dict[str, object], value: bool | None) -> None:
    assert evaluate(parse(text, SCHEMA), check_event(event, SCHEMA)[0]) is value
