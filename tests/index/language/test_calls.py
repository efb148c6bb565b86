"""Calls in the language: parsed, checked, printed, stored."""

import pickle

import pytest

from index import Attribute, ExpressionError, Schema, parse
from index.language import Operator, Type, attributes_of, calls_of, from_json, normalize, to_json

SCHEMA = Schema(
    [Attribute("site.page", "string"), Attribute("age", "int"), Attribute("call", "bool")],
    [
        Operator("brand_safety", (Type.STRING,), Type.FLOAT),
        Operator("is_safe", (Type.STRING, Type.INT), Type.BOOL),
    ],
)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("CALL brand_safety( site.page )>=.8", "call brand_safety(site.page) >= 0.8"),
        ("call is_safe(site.page,age)", "call is_safe(site.page, age)"),
        ("not call is_safe(site.page, age)", "not (call is_safe(site.page, age))"),
        ("call brand_safety(site.page) in (1, 0.5)", "call brand_safety(site.page) in (1.0, 0.5)"),
        ("call in (true) and call", "call in (true) and call"),
    ],
)
def test_a_call_comes_back_as_it_was(text: str, printed: str) -> None:
    tree = parse(text, SCHEMA)
    assert str(tree) == printed
    assert parse(printed, SCHEMA) == from_json(to_json(tree), SCHEMA) == tree


@pytest.mark.parametrize(
    ("text", "code", "hint"),
    [
        ("call brand_safty(site.page) > 1", "operator.unknown", "did you mean brand_safety?"),
        ("call brand_safety(age) > 1", "type.argument", None),
        ("call is_safe(site.page)", "operator.arguments", None),
        ("call is_safe(site.page, age, age)", "operator.arguments", None),
        ("call brand_safety(site.pag) > 1", "attribute.unknown", "did you mean site.page?"),
        ("call brand_safety('x') > 1", "syntax.unexpected", None),
        ("call brand_safety() > 1", "syntax.unexpected", None),
        ("call brand_safety(site.page > 1", "syntax.unexpected", None),
        ("call brand_safety(site.page) > 'x'", "type.mismatch", "leave out the quotes"),
        ("call brand_safety(site.page)", "type.bare", None),
    ],
)
def test_errors_say_what_is_wrong(text: str, code: str, hint: str | None) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(text, SCHEMA)
    assert caught.value.code == code
    if hint is not None:
        assert caught.value.hint == hint


def test_a_result_is_never_asked_whether_it_is_null() -> None:
    with pytest.raises(ExpressionError, match="does not work on the result of a call"):
        parse("call is_safe(site.page, age) is not null", SCHEMA)


def test_a_tree_knows_its_calls_and_all_its_attributes() -> None:
    tree = parse("call is_safe(site.page, age) and call", SCHEMA)
    assert list(calls_of(tree)) == ["call is_safe(site.page, age)"]
    assert attributes_of(tree) == {"site.page", "age", "call"}


def test_the_outer_cover_says_that_arguments_are_present() -> None:
    tree = parse("not (call is_safe(site.page, age) or call)", SCHEMA)
    assert normalize(tree).to_text() == "call = false and call is_safe(site.page, age) = false"
    cover = normalize(tree, SCHEMA).to_text()
    assert cover == "age is not null and call = false and site.page is not null"


def test_a_schema_with_operators_can_be_sent_to_another_process() -> None:
    assert pickle.loads(pickle.dumps(SCHEMA)) == SCHEMA
    assert Schema(SCHEMA) != SCHEMA
