"""What docs/language.md says is what happens."""

import json
import re
from pathlib import Path

import pytest

from index import Attribute, Index, Schema, parse
from index.event import check_event
from index.language import ExpressionError, Limits, Op, Type
from index.language.derived import Bucket
from index.scan import evaluate

PAGE = (Path(__file__).parents[3] / "docs" / "language.md").read_text()
TABLE = re.compile(r"^(\|.*\|)\n\|[-|]+\|\n((?:\|.*\|\n)+)", re.MULTILINE)
BROKEN = re.compile(r"^```error\n(.*)\n((?:.*\n)+?)```", re.MULTILINE)
VALUES = {"true": True, "false": False, "unknown": None}


def cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip().strip("`") for cell in line.strip("|").split(" |"))


def rows(*header: str) -> list[tuple[str, ...]]:
    """The rows of all tables that have these columns."""
    bodies = [body for found, body in TABLE.findall(PAGE) if cells(found) == header]
    return [cells(line) for body in bodies for line in body.splitlines()]


SCHEMA = Schema([Attribute(name, type) for name, type in rows("attribute", "type")])


@pytest.mark.parametrize(("text", "event", "result"), rows("expression", "event", "result"))
def test_examples(text: str, event: str, result: str) -> None:
    tree = parse(text, SCHEMA)
    attributes = json.loads(event)
    checked, unknown_names = check_event(attributes, SCHEMA)
    assert not unknown_names
    assert evaluate(tree, checked) is VALUES[result]
    for engine in ("native", "reference"):
        index = Index(SCHEMA, engine=engine)
        index.insert(1, tree)
        assert index.match(attributes) == ([1] if result == "true" else [])


def test_every_operator_is_there_with_its_types_and_its_negation() -> None:
    table = rows("operator", "types", "negation", "true if the value")
    operators = [op for op in Op if op is not Op.HOLDS]
    assert [word for word, _, _, _ in table] == [op.word for op in operators]
    for op, (_, types, negation, _) in zip(operators, table, strict=True):
        assert op.types == ({*Type} if types == "all" else {Type(t) for t in types.split(", ")})
        assert negation == (op.negation.word if op.negation else "")


def test_every_operator_has_an_example() -> None:
    examples = [text for text, _, _ in rows("expression", "event", "result")]
    for op in Op:
        assert any(f" {op.word}" in text for text in examples) or op is Op.HOLDS, op


LOGIC = ("a and b", "a or b", "a xor b", "a xnor b")


@pytest.mark.parametrize("row", rows("a", "b", *LOGIC))
def test_truth_table(row: tuple[str, ...]) -> None:
    a, b, *results = (VALUES[cell] for cell in row)
    schema = Schema([Attribute("a", "bool"), Attribute("b", "bool")])
    for text, result in zip(LOGIC, results, strict=True):
        for event in ({"a": a, "b": b}, {"a": b, "b": a}):
            checked, _ = check_event(event, schema)
            assert evaluate(parse(text, schema), checked) is result


@pytest.mark.parametrize(("text", "shown"), BROKEN.findall(PAGE))
def test_errors_look_like_that(text: str, shown: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(text, SCHEMA)
    assert str(caught.value) == shown.rstrip("\n")


@pytest.mark.parametrize(("text", "code"), rows("wrong expression", "code"))
def test_error_codes(text: str, code: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(text, SCHEMA)
    assert caught.value.code == code


def test_limits() -> None:
    limits = Limits()
    table = rows("limit", "default", "setting", "code")
    documented = [int(default.replace(",", "")) for _, default, _, _ in table]
    assert documented == [limits.text_bytes, limits.predicates, limits.depth, limits.set_values]


def test_the_page_has_what_these_tests_look_for() -> None:
    assert len(rows("expression", "event", "result")) > 50
    assert len(rows("a", "b", *LOGIC)) == 6
    assert BROKEN.findall(PAGE)
    assert len(rows("wrong expression", "code")) > 10


@pytest.mark.parametrize(("salt", "value", "bucket"), rows("salt", "value", "bucket"))
def test_buckets(salt: str, value: str, bucket: str) -> None:
    of = json.loads(value)
    kind = Type.INT if isinstance(of, int) else Type.STRING
    assert Bucket("a", kind, "" if salt == "(empty)" else salt).of(of) == int(bucket)
