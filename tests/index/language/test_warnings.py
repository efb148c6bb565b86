"""Warnings about valid expressions."""

import pytest

from index.language import parse, warnings_for
from tests.index.language.test_parser import SCHEMA


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("age = 1 and age = 2", ["never_true"]),
        ("age > 30 and age < 20", ["never_true"]),
        ("not (age = 1 or age != 1)", ["never_true"]),
        ("false", ["never_true"]),
        ("vip xor vip", ["never_true"]),
        ("(age = 1 and age = 2) or (vip and not vip)", ["never_true"]),
        ("age = 1 or age != 1", ["never_false"]),
        ("age <= 5 or age > 3", ["never_false"]),
        ("not (age = 1 and age = 2)", ["never_false"]),
        ("vip or not vip or country = 'US'", ["never_false"]),
        ("age is null or age is not null", ["always_true"]),
        ("vip or true", ["always_true"]),
        ("true", []),
        ("age = 1", []),
        ("age = 1 or age = 2", []),
        ("(age = 1 and age = 2) or vip", []),
        ("country != 'US' or country is null", []),
    ],
)
def test_warnings(text: str, codes: list[str]) -> None:
    assert [warning.code for warning in warnings_for(parse(text, SCHEMA))] == codes
