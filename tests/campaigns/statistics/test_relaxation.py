"""An expression without each of its predicates."""

import pytest

from campaigns.statistics.relaxation import without_each
from index import Attribute, Schema, parse

SCHEMA = Schema([Attribute(name, "int") for name in "abcd"])


@pytest.mark.parametrize(
    ("text", "rests"),
    [
        ("true", []),
        ("a = 1", ["true"]),
        ("not a = 1", ["true"]),
        ("a = 1 and b = 2", ["b = 2", "a = 1"]),
        ("a = 1 and b = 2 and c = 3", ["b = 2 and c = 3", "a = 1 and c = 3", "a = 1 and b = 2"]),
        ("a = 1 or b = 2", ["b = 2", "a = 1"]),
        (
            "a = 1 and not (b = 2 or c = 3)",
            ["not (b = 2 or c = 3)", "a = 1 and not (c = 3)", "a = 1 and not (b = 2)"],
        ),
        ("a = 1 and not b = 2", ["not (b = 2)", "a = 1"]),
        ("a = 1 xor b = 2 xnor c = 3", ["b = 2 xnor c = 3", "a = 1 xnor c = 3", "a = 1 xor b = 2"]),
        (
            "a = 1 and true",
            [
                "true",
            ],
        ),
    ],
)
def test_each_predicate_is_left_out_once(text: str, rests: list[str]) -> None:
    assert [str(rest) for _, rest in without_each(parse(text, SCHEMA))] == rests


def test_the_predicates_are_in_order() -> None:
    tree = parse("a = 1 and (b = 2 or (c = 3 and a = 1))", SCHEMA)
    assert [str(predicate) for predicate, _ in without_each(tree)] == [
        "a = 1",
        "b = 2",
        "c = 3",
        "a = 1",
    ]
