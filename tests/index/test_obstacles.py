"""The smallest set of predicates that prevents a match, compared with trying every set."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index import Index, parse
from index.event import Event, check_event
from index.language import (
    And,
    Constant,
    Not,
    Or,
    Predicate,
    Tree,
    Xor,
    predicate_count,
    predicates_of,
)
from index.obstacles import Obstacles, obstacles_to
from index.scan import combine, evaluate
from tests.index.strategies import events, schemas, trees
from tests.index.test_explain import SCHEMA


def obstacles(text: str, event: dict[str, object]) -> Obstacles:
    checked, _ = check_event(event, SCHEMA)
    return obstacles_to(parse(text, SCHEMA), checked)


def texts(found: Obstacles) -> list[tuple[str, bool | None, bool]]:
    return [(str(o.predicate), o.value, o.wanted) for o in found.obstacles]


@pytest.mark.parametrize(
    ("text", "event", "expected"),
    [
        ("country = 'US'", {"country": "US"}, []),
        ("country = 'US'", {"country": "FR"}, [("country = 'US'", False, True)]),
        ("country = 'US'", {}, [("country = 'US'", None, True)]),
        ("country is not null", {}, [("country is not null", False, True)]),
        ("not vip", {"vip": True}, [("vip", True, False)]),
        ("not vip", {}, [("vip", None, False)]),
        (
            "country = 'US' and age > 18 and vip",
            {"age": 20},
            [("country = 'US'", None, True), ("vip", None, True)],
        ),
        ("(country = 'US' and age > 18) or vip", {}, [("vip", None, True)]),
        ("not (country = 'US' and age > 18)", {"country": "US"}, [("country = 'US'", True, False)]),
        ("not (vip or age > 18)", {"vip": False, "age": 20}, [("age > 18", True, False)]),
        ("vip xor age > 18", {"vip": True, "age": 20}, [("age > 18", True, False)]),
        ("vip xnor age > 18", {"vip": True}, [("age > 18", None, True)]),
        ("vip and vip", {}, [("vip", None, True), ("vip", None, True)]),
        ("vip or false", {}, [("vip", None, True)]),
    ],
)
def test_the_obstacles(
    text: str, event: dict[str, object], expected: list[tuple[str, bool | None, bool]]
) -> None:
    found = obstacles(text, event)
    assert texts(found) == expected
    assert not found.never


@pytest.mark.parametrize("text", ["false", "vip and false", "not (vip or true)", "true xor true"])
def test_what_constants_forbid_never_becomes_true(text: str) -> None:
    assert obstacles(text, {"vip": True}) == Obstacles((), never=True)


def test_a_contradiction_is_never_true_and_still_tells_what_is_false() -> None:
    found = obstacles("age < 18 and age > 60", {"age": 10})
    assert found.never
    assert texts(found) == [("age > 60", False, True)]


def test_an_obstacle_says_why() -> None:
    event: dict[str, object] = {"country": "F'R", "segments": []}
    found = obstacles("country = 'US' and age > 18 and segments any of (1) and vip", event)
    assert [obstacle.why for obstacle in found.obstacles] == [
        "country is 'F''R'",
        "age is missing",
        "segments is empty",
        "vip is missing",
    ]
    assert found.obstacles[2].to_dict() == {
        "place": 2,
        "text": "segments any of (1)",
        "attribute": "segments",
        "value": "false",
        "wanted": "true",
        "got": [],
        "why": "segments is empty",
    }
    long = obstacles("segments none of (30)", {"segments": list(range(40))})
    assert long.obstacles[0].why.startswith("segments is (30, 0, 1, ")
    assert long.obstacles[0].why.endswith(", 18 and 20 more)")


def test_a_long_chain_is_no_problem() -> None:
    chain = " xor ".join(["vip"] * 900)
    assert len(obstacles(chain, {"vip": True}).obstacles) == 1
    assert len(obstacles(chain, {}).obstacles) == 900


def test_obstacles_by_id() -> None:
    index = Index(SCHEMA)
    index.insert(7, "country = 'US' and vip")
    assert texts(index.obstacles(7, {"country": "FR", "vip": True})) == [
        ("country = 'US'", False, True)
    ]
    with pytest.raises(KeyError):
        index.obstacles(8, {})


def value_with(tree: Tree, values: list[bool | None]) -> bool | None:
    """The tree's value when its predicates, from left to right, have these."""
    pending = iter(values)

    def walk(node: Tree) -> bool | None:
        if isinstance(node, Constant):
            return node.value
        if isinstance(node, Predicate):
            return next(pending)
        if isinstance(node, Not):
            return combine(node, [walk(node.child)])
        assert isinstance(node, And | Or | Xor)
        return combine(node, [walk(child) for child in node.children])

    return walk(tree)


def least_changes(tree: Tree, event: Event) -> int | None:
    """By trying every set of occurrences, with every value for each, smallest sets first."""
    now = [evaluate(predicate, event) for predicate in predicates_of(tree)]
    for size in range(len(now) + 1):
        for places in itertools.combinations(range(len(now)), size):
            for values in itertools.product((True, False, None), repeat=size):
                tried = list(now)
                for place, value in zip(places, values, strict=True):
                    tried[place] = value
                if value_with(tree, tried) is True:
                    return size
    return None


@given(st.data())
def test_no_smaller_set_of_changes_makes_it_true(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    tree = data.draw(trees(schema, max_leaves=5).filter(lambda tree: predicate_count(tree) <= 5))
    event, _ = check_event(data.draw(events(schema)), schema)
    found = obstacles_to(tree, event)
    least = least_changes(tree, event)
    assert len(found.obstacles) == (least or 0)
    assert found.never or least is not None
    assert (evaluate(tree, event) is True) == (not found.never and not found.obstacles)


@given(st.data())
def test_changing_the_obstacles_makes_it_true(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    tree = data.draw(trees(schema, max_leaves=30))
    event, _ = check_event(data.draw(events(schema)), schema)
    found = obstacles_to(tree, event)
    predicates = list(predicates_of(tree))
    values = [evaluate(predicate, event) for predicate in predicates]
    for obstacle in found.obstacles:
        assert predicates[obstacle.place] == obstacle.predicate
        assert values[obstacle.place] is obstacle.value
        assert obstacle.value is not obstacle.wanted
        values[obstacle.place] = obstacle.wanted
    impossible = found.never and not found.obstacles
    assert (value_with(tree, values) is True) != impossible
