"""The normal form: its text, what it folds, one form for one meaning, and its size."""

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index import Index
from index.event import Event, check_event
from index.language import (
    And,
    Constant,
    Literal,
    NormalForm,
    Not,
    Op,
    Or,
    Tree,
    Xor,
    normalize,
    parse,
    to_json,
)
from index.language.literals import holds
from index.language.normal_form import Gate, Kind
from index.scan import evaluate
from tests.index.language.test_parser import SCHEMA
from tests.index.strategies import events, schemas, trees


def is_true(form: NormalForm, event: Event) -> bool:
    """Whether an event makes a normal form true, straight from its definition."""
    truth: list[bool] = []
    for node in form.nodes:
        if isinstance(node, Constant):
            truth.append(node.value)
        elif isinstance(node, Literal):
            value = node.predicate.value_in(event)
            missing = node.predicate.op is Op.IS_NULL and node.positive
            truth.append(missing if value is None else holds(node, value))
        else:
            of = all if node.kind is Kind.AND else any
            truth.append(of(truth[child] for child in node.children))
    return truth[-1]


def normalize_in_both(text: str) -> NormalForm:
    """The normal form of a text, which the Rust core gives as well."""
    tree = parse(text, SCHEMA)
    form = normalize(tree)
    core = Index(SCHEMA, engine="native")._native().core
    assert core.normal_form(to_json(tree).encode()) == form.to_json()
    return form


@given(st.data())
def test_normal_form_and_tree_as_written_agree_also_under_a_negation(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    tree = data.draw(trees(schema))
    yes, no = normalize(tree), normalize(Not(tree))
    for event in data.draw(st.lists(events(schema), min_size=1, max_size=8)):
        checked, _ = check_event(event, schema)
        value = evaluate(tree, checked)
        assert is_true(yes, checked) == (value is True)
        assert is_true(no, checked) == (value is False)


def shuffled(tree: Tree, rng: random.Random) -> Tree:
    """The same expression, the operands of `and` and `or` in another order."""
    if isinstance(tree, Not):
        return Not(shuffled(tree.child, rng))
    if isinstance(tree, And | Or):
        children = [shuffled(child, rng) for child in tree.children]
        rng.shuffle(children)
        return type(tree)(tuple(children))
    if isinstance(tree, Xor):
        return Xor(tuple(shuffled(child, rng) for child in tree.children), tree.inverted)
    return tree


@given(st.data(), st.randoms(use_true_random=False))
def test_the_order_of_writing_does_not_matter(data: st.DataObject, rng: random.Random) -> None:
    tree = data.draw(trees(data.draw(schemas())))
    assert normalize(shuffled(tree, rng)) == normalize(tree)


@given(st.data())
def test_gates_are_flat_distinct_folded_and_in_order(data: st.DataObject) -> None:
    form = normalize(data.draw(trees(data.draw(schemas()))))
    assert len(set(form.nodes)) == len(form.nodes)
    used: set[int] = set()
    for place, node in enumerate(form.nodes):
        if isinstance(node, Constant):
            assert len(form.nodes) == 1
        elif isinstance(node, Gate):
            assert len(node.children) >= 2
            assert list(node.children) == sorted(set(node.children))
            assert max(node.children) < place
            for child in node.children:
                below = form.nodes[child]
                assert not (isinstance(below, Gate) and below.kind is node.kind)
            used.update(node.children)
    assert used == set(range(len(form.nodes) - 1)), "every node but the root is somebody's child"


def test_a_double_negation_is_nothing() -> None:
    tree = parse("age = 1 or vip and country is null", SCHEMA)
    assert normalize(Not(Not(tree))) == normalize(tree)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("age < 18", "age <= 17"),
        ("not (age >= 18)", "age <= 17"),
        ("age > 17", "age >= 18"),
        ("age between 5 and 5", "age = 5"),
        ("age in (5)", "age = 5"),
        ("not (age in (5, 4))", "age not in (4, 5)"),
        ("age >= -9223372036854775808", "age is not null"),
        ("age > 9223372036854775807", "false"),
        ("age between -9223372036854775808 and 3", "age <= 3"),
        ("not (age between -9223372036854775808 and 3)", "age >= 4"),
        ("not (age between 3 and 5)", "age not between 3 and 5"),
        ("age not between 3 and 5", "age not between 3 and 5"),
        ("not (age not between 3 and 5)", "age between 3 and 5"),
        ("age not between 5 and 5", "age != 5"),
        ("age not between -9223372036854775808 and 3", "age >= 4"),
        ("age not between -9223372036854775808 and 9223372036854775807", "false"),
        ("price not between 1 and 2", "price not between 1.0 and 2.0"),
        ("price < 1", "price < 1.0"),
        ("not (price < 1)", "price >= 1.0"),
        ("price between 1 and 1", "price = 1.0"),
        ("vip", "vip = true"),
        ("not vip", "vip = false"),
        ("vip != false", "vip = true"),
        ("vip in (true, false)", "vip is not null"),
        ("vip not in (true, false)", "false"),
        ("country >= ''", "country is not null"),
        ("country < ''", "false"),
        ("not (country starts with 'a')", "not (country starts with 'a')"),
        ("not (segments all of (1, 2))", "not (segments all of (1, 2))"),
        ("segments all of (2)", "segments any of (2)"),
        ("not (segments any of (2))", "segments none of (2)"),
        ("not (segments is empty)", "segments is not empty"),
        ("not (age is null)", "age is not null"),
        ("not (age = 1 and vip)", "age != 1 or vip = false"),
        ("not (age = 1 or vip)", "age != 1 and vip = false"),
        ("age = 1 and (vip and (country = 'a' and age = 1))",
         "age = 1 and country = 'a' and vip = true"),
        ("vip xor age = 1", "(age = 1 and vip = false) or (age != 1 and vip = true)"),
        ("vip xnor age = 1", "(age = 1 and vip = true) or (age != 1 and vip = false)"),
        ("true and vip", "vip = true"),
        ("false or vip", "vip = true"),
        ("false and vip", "false"),
        ("true or vip", "true"),
        ("age = 1 and age = 2", "false"),
        ("not (age = 1 and age = 2)", "age != 1 or age != 2"),
        ("age = 1 or age != 1", "age = 1 or age != 1"),
        ("not (age = 1 or age != 1)", "false"),
        ("age is null or age is not null", "true"),
        ("not (age is null and age is not null)", "true"),
        ("vip xor vip", "false"),
        ("vip xnor vip", "vip = false or vip = true"),
    ],
)  # fmt: skip
def test_one_form_for_one_meaning(text: str, normal: str) -> None:
    assert normalize_in_both(text).to_text() == normal


@pytest.mark.parametrize(
    "text",
    [
        "age = 1 and age != 1",
        "age = 1 and age > 5",
        "age in (1, 2) and age in (3, 4)",
        "age > 30 and age < 20",
        "age > 4 and age < 5",
        "age between 1 and 2 and age not in (1, 2)",
        "age is null and age = 1",
        "age is null and age is not null",
        "price > 1 and price <= 1",
        "price >= 1 and price <= 1 and price != 1",
        "price between 1 and 2 and price > 2",
        "price between 1 and 2 and price not between 1 and 2",
        "age not between 1 and 5 and age in (1, 5)",
        "age not between 1 and 5 and age between 2 and 4",
        "country not between 'a' and 'c' and country = 'b'",
        "country > 'b' and country < 'a'",
        "country = 'abc' and country starts with 'b'",
        "country in ('ab', 'ac') and not (country contains 'a')",
        "country starts with 'a' and country starts with 'b'",
        "country starts with 'a' and country > 'b'",
        "country starts with 'b' and country < 'b'",
        "country ends with 'xa' and country ends with 'ya'",
        "vip and not vip",
        "segments is empty and segments any of (1)",
        "segments is empty and segments all of (1, 2)",
        "segments any of (1, 2) and segments none of (1, 2, 3)",
        "segments any of (1, 2) and segments none of (1) and segments none of (2)",
        "segments all of (1, 2) and segments none of (2)",
        "segments all of (1, 2, 3) and not (segments all of (1, 2))",
        "country contains 'a' and not (country contains 'a')",
    ],
)
def test_what_can_never_be_true_is_false(text: str) -> None:
    assert normalize_in_both(text) == NormalForm((Constant(False),))


@pytest.mark.parametrize(
    "text",
    [
        "age > 4 and age < 6",
        "age >= 1 and age not in (1, 2)",
        "price > 1 and price < 2",
        "age not between 1 and 5 and age between 2 and 6",
        "country starts with 'a' and country starts with 'ab'",
        "country starts with 'b' and country <= 'b'",
        "country starts with 'a' and country > 'ab'",
        "country ends with 'a' and country ends with 'xa'",
        "segments is empty and segments none of (1)",
        "segments is empty and not (segments all of (1, 2))",
        "segments any of (1, 2) and segments none of (1)",
        "not (segments all of (1, 2)) and segments all of (1, 3)",
    ],
)
def test_what_can_be_true_is_not_folded(text: str) -> None:
    assert isinstance(normalize_in_both(text).root, Gate)


@pytest.mark.parametrize("word", ["xor", "xnor"])
def test_a_long_chain_of_xor_is_linear(word: str) -> None:
    def size(n: int) -> int:
        chain = f" {word} ".join(f"age = {i}" for i in range(n))
        return sum(
            len(node.children) if isinstance(node, Gate) else 1
            for node in normalize(parse(chain, SCHEMA)).nodes
        )

    assert size(1000) < 2.1 * size(500)


def test_a_chain_of_xor_nested_to_the_depth_limit_is_linear() -> None:
    text = "age = 0"
    for i in range(1, 64):
        text = f"({text}) xor age = {i}"
    chain = " xor ".join(f"age = {i}" for i in range(64))
    assert normalize(parse(text, SCHEMA)) == normalize(parse(chain, SCHEMA))
    started = time.process_time()
    right = "age = 0"
    for i in range(1, 64):
        right = f"age = {i} xor ({right})"
    assert len(normalize(parse(right, SCHEMA)).nodes) < 64 * 9
    assert time.process_time() - started < 5, "this took exponential time"


def test_text_is_given_up_when_sharing_would_be_written_out() -> None:
    form = normalize(parse(" xor ".join(f"age = {i}" for i in range(100)), SCHEMA))
    assert form.to_text() is None
    assert form.to_json().startswith('[1,[["in","age",0]')


def test_conjunctions_are_recognised() -> None:
    assert normalize(parse("age = 1", SCHEMA)).conjunction() is not None
    form = normalize(parse("not (vip or age != 1)", SCHEMA))
    assert [str(literal) for literal in form.conjunction() or ()] == ["age = 1", "vip = false"]
    assert normalize(parse("vip or age = 1", SCHEMA)).conjunction() is None
    assert normalize(parse("country = 'a' and (vip or age = 1)", SCHEMA)).conjunction() is None
    assert normalize(parse("true", SCHEMA)).conjunction() is None
