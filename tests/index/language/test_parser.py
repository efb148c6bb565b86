"""Valid expressions: their trees, and the text printed from them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.language import (
    And,
    Attribute,
    Constant,
    Not,
    Op,
    Or,
    Predicate,
    Schema,
    Tree,
    Type,
    Xor,
    from_json,
    parse,
    to_json,
)
from index.scan import evaluate
from tests.index.strategies import schemas, trees

SCHEMA = Schema(
    [
        Attribute("country", "string"),
        Attribute("device.type", "string"),
        Attribute("age", "int"),
        Attribute("Age", "int"),
        Attribute("price", "float"),
        Attribute("vip", "bool"),
        Attribute("segments", "int list"),
        Attribute("tags", "string list"),
    ]
)

A = Predicate("age", Type.INT, Op.EQ, 1)
B = Predicate("age", Type.INT, Op.EQ, 2)
C = Predicate("age", Type.INT, Op.EQ, 3)
D = Predicate("age", Type.INT, Op.EQ, 4)


def string(op: Op, operand: object = None) -> Predicate:
    return Predicate("country", Type.STRING, op, operand)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("country = 'US'", string(Op.EQ, "US")),
        ('country = "US"', string(Op.EQ, "US")),
        ("country != 'US'", string(Op.NE, "US")),
        ("country <> 'US'", string(Op.NE, "US")),
        ("country < 'US'", string(Op.LT, "US")),
        ("country <= 'US'", string(Op.LE, "US")),
        ("country > 'US'", string(Op.GT, "US")),
        ("country >= 'US'", string(Op.GE, "US")),
        ("country between 'A' and 'B'", string(Op.BETWEEN, ("A", "B"))),
        ("country not between 'A' and 'B'", string(Op.NOT_BETWEEN, ("A", "B"))),
        ("country in ('US', 'CA')", string(Op.IN, ("US", "CA"))),
        ("country not in ('US')", string(Op.NOT_IN, ("US",))),
        ("country starts with 'U'", string(Op.STARTS_WITH, "U")),
        ("country ends with 'S'", string(Op.ENDS_WITH, "S")),
        ("country contains 'S'", string(Op.CONTAINS, "S")),
        ("country is null", string(Op.IS_NULL)),
        ("country is not null", string(Op.IS_NOT_NULL)),
        ("segments any of (1, 2)", Predicate("segments", Type.INT_LIST, Op.ANY_OF, (1, 2))),
        ("segments none of (1)", Predicate("segments", Type.INT_LIST, Op.NONE_OF, (1,))),
        ("segments all of (1, 2)", Predicate("segments", Type.INT_LIST, Op.ALL_OF, (1, 2))),
        ("tags is empty", Predicate("tags", Type.STRING_LIST, Op.IS_EMPTY)),
        ("tags is not empty", Predicate("tags", Type.STRING_LIST, Op.IS_NOT_EMPTY)),
        ("vip", Predicate("vip", Type.BOOL, Op.HOLDS)),
        ("vip = true", Predicate("vip", Type.BOOL, Op.EQ, True)),
        ("true", Constant(True)),
        ("FALSE", Constant(False)),
    ],
)
def test_every_predicate(text: str, tree: Tree) -> None:
    assert parse(text, SCHEMA) == tree


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("country = 'it''s'", "it's"),
        ('country = "say ""hi"""', 'say "hi"'),
        ("country = 'say \"hi\"'", 'say "hi"'),
        ("country = ''", ""),
        ("country = 'a\nb'", "a\nb"),
        ("country = '-- not a comment'", "-- not a comment"),
        ("country = 'é\U0010ffff'", "é\U0010ffff"),
        ("age = -5", -5),
        ("age = +5", 5),
        ("age=-9223372036854775808", -(2**63)),
        ("age = 9223372036854775807", 2**63 - 1),
        ("age = 007", 7),
        ("price = 1", 1.0),
        ("price = -0.0", 0.0),
        ("price = .5", 0.5),
        ("price = 1e3", 1000.0),
        ("price = -1.5E-3", -0.0015),
        ("price = 9007199254740992", 2.0**53),
        ("price = 1e400000000", None),
    ],
)
def test_every_kind_of_literal(text: str, value: object) -> None:
    if value is None:
        with pytest.raises(ValueError, match="infinities"):
            parse(text, SCHEMA)
        return
    tree = parse(text, SCHEMA)
    assert isinstance(tree, Predicate)
    assert tree.operand == value
    assert type(tree.operand) is type(value)
    assert str(tree.operand) == str(value)  # tells -0.0 from 0.0


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("age=1 and age=2 and age=3", And((A, B, C))),
        ("age=1 or age=2 or age=3", Or((A, B, C))),
        ("(age=1 and age=2) and age=3", And((And((A, B)), C))),
        ("age=1 or age=2 and age=3", Or((A, And((B, C))))),
        ("age=1 xor age=2 or age=3", Or((Xor((A, B), (False,)), C))),
        ("age=1 and age=2 xor age=3", Xor((And((A, B)), C), (False,))),
        ("age=1 xnor age=2 xor age=3", Xor((A, B, C), (True, False))),
        ("age=1 xor (age=2 xor age=3)", Xor((A, Xor((B, C), (False,))), (False,))),
        ("not age=1 and age=2", And((Not(A), B))),
        ("not (age=1 and age=2)", Not(And((A, B)))),
        ("not not age=1", Not(Not(A))),
        ("((age=1))", A),
        ("age=1 or age=2 xor age=3 and not age=4", Or((A, Xor((B, And((C, Not(D)))), (False,))))),
        ("age between 1 and 2 and age=1", And((Predicate("age", Type.INT, Op.BETWEEN, (1, 2)), A))),
    ],
)
def test_not_binds_tightest_then_and_then_xor_then_or(text: str, tree: Tree) -> None:
    assert parse(text, SCHEMA) == tree


def test_keywords_take_any_case_and_names_only_their_own() -> None:
    text = "Age = 1 AND NOT age Between 1 And 2 oR vip Is NoT nUll"
    assert str(parse(text, SCHEMA)) == "Age = 1 and not (age between 1 and 2) or vip is not null"


def test_comments_and_line_breaks_are_white_space() -> None:
    text = "-- who\ncountry = 'US' -- the country\n\n  and\tage = 1 --"
    assert parse(text, SCHEMA) == And((string(Op.EQ, "US"), A))


def test_repeated_values_collapse_and_keep_their_order() -> None:
    tree = parse("segments any of (3, 1, 3, 1)", SCHEMA)
    assert tree == Predicate("segments", Type.INT_LIST, Op.ANY_OF, (3, 1))
    price = parse("price in (0.0, -0.0, 0, 1)", SCHEMA)
    assert price == Predicate("price", Type.FLOAT, Op.IN, (0.0, 1.0))


def test_one_and_true_and_one_point_zero_are_three_predicates() -> None:
    trees = {
        parse("x = 1", Schema([Attribute("x", "int")])),
        parse("x = 1", Schema([Attribute("x", "float")])),
        parse("x = true", Schema([Attribute("x", "bool")])),
    }
    assert len(trees) == 3


def test_a_chain_of_a_thousand_is_not_a_thousand_deep() -> None:
    for word in ("and", "or", "xor", "xnor"):
        tree = parse(f" {word} ".join(["age = 1"] * 1000), SCHEMA)
        assert isinstance(tree, And | Or | Xor)
        assert len(tree.children) == 1000


def test_nesting_up_to_the_limit_is_fine() -> None:
    assert parse("(" * 64 + "vip" + ")" * 64, SCHEMA) == Predicate("vip", Type.BOOL, Op.HOLDS)
    parse("not " * 64 + "vip", SCHEMA)
    deep = "vip"
    for _ in range(64):
        deep = f"(vip or vip xor vip and {deep})"
    tree = parse(deep, SCHEMA)
    assert parse(str(tree), SCHEMA) == tree
    assert from_json(to_json(tree), SCHEMA) == tree
    assert evaluate(tree, {"vip": True}) is True
    hash(tree)


@given(st.data())
def test_printing_and_parsing_gives_the_tree_back(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    tree = data.draw(trees(schema))
    again = parse(str(tree), schema)
    assert again == tree
    assert hash(again) == hash(tree)
    assert str(again) == str(tree)


@pytest.mark.parametrize("name", ["1st", "a.", "a..b", "a b", "a-b", "größe", "`", "a``b", "a/b"])
def test_a_name_of_any_characters_stands_in_backticks(name: str) -> None:
    schema = Schema([Attribute(name, "int")])
    tree = parse(f"`{name.replace('`', '``')}` between 1 and 3", schema)
    assert tree == Predicate(name, Type.INT, Op.BETWEEN, (1, 3))
    assert parse(str(tree), schema) == tree


def test_backticks_around_a_plain_name_change_nothing() -> None:
    schema = Schema([Attribute("c.d", "bool")])
    assert str(parse("`c.d`", schema)) == "c.d"
