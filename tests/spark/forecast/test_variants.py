"""The variants of expressions, and the rounds that they are matched in."""

import pytest

from index import Attribute, Schema, parse
from index.language.json_form import to_json
from spark.forecast import variants as module
from spark.forecast.variants import WHOLE, rounds, variants

SCHEMA = Schema([Attribute("age", "int"), Attribute("country", "string")])


def tree(text: str) -> bytes:
    return to_json(parse(text, SCHEMA)).encode()


def test_each_expression_is_followed_by_what_is_left_of_it() -> None:
    some = [(7, tree("age = 1 and age = 2 and age = 3")), (9, tree("country = '['"))]
    assert list(variants(some, SCHEMA, 2)) == [
        (7, WHOLE, tree("age = 1 and age = 2 and age = 3")),
        (7, 1, tree("age = 2 and age = 3")),
        (7, 2, tree("age = 1 and age = 3")),
        (9, WHOLE, tree("country = '['")),
        (9, 1, tree("true")),
    ]
    assert [id for id, _, _ in variants(some, SCHEMA, 0)] == [7, 9]


@pytest.mark.parametrize("without", [0, 1, 50])
def test_no_round_has_more_than_fits(without: int, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [" and ".join(f"age = {n}" for n in range(size)) for size in (1, 5, 2, 9, 3, 3, 1)]
    some = [(id, tree(text)) for id, text in enumerate(texts)]
    monkeypatch.setattr(module, "BYTES_A_ROUND", 600)
    parts = list(rounds(some, without))
    assert [each for part in parts for each in part] == some
    for part in parts:
        held = sum(len(text) for _, _, text in variants(part, SCHEMA, without))
        assert len(part) == 1 or held <= 600
    assert len(parts) > 1 or not without


def test_without_expressions_the_requests_are_asked_about_all_the_same() -> None:
    assert list(rounds([], 50)) == [[]]
