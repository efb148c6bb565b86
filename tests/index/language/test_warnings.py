"""Warnings about valid expressions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.language import (
    Constant,
    Not,
    Schema,
    Tree,
    normalize,
    parse,
    parse_written,
    predicates_of,
    warnings_for,
)
from index.language.names import written_name
from tests.index.language.test_parser import SCHEMA
from tests.index.strategies import schemas, trees


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


CASES: st.SearchStrategy[tuple[Schema, Tree]] = schemas().flatmap(
    lambda schema: st.tuples(st.just(schema), trees(schema))
)


@given(CASES)
def test_never_false_is_found_whatever_the_shape_of_the_expression(
    case: tuple[Schema, Tree],
) -> None:
    _, tree = case
    never_false = normalize(Not(tree)).root == Constant(False)
    codes = [warning.code for warning in warnings_for(tree)]
    assert not never_false or codes or tree == Constant(True)


@given(CASES)
def test_a_written_predicate_stands_where_it_says(case: tuple[Schema, Tree]) -> None:
    schema, tree = case
    text = f"-- first\n{tree} -- last"
    parsed, written = parse_written(text, schema)
    assert [each.predicate for each in written] == list(predicates_of(parsed))
    for each in written:
        assert parse(text[slice(*each.span)], schema) == each.predicate
        assert text[slice(*each.name_span)] == written_name(each.predicate.attribute)
        for value, (start, end) in each.values():
            assert start < end
            assert isinstance(value, str | int | float | bool)
