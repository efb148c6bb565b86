"""Where literals enter, and that the intervals of a literal are the values that make it true."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.event import Value
from index.language.operators import Op
from index.language.predicate import Literal
from index.reference.elements import elements_of
from index.reference.interval import Interval, check_disjoint, point
from index.reference.ps_tree import PSTree
from index.reference.spaces import (
    Choice,
    Domain,
    Missing,
    Present,
    Spaces,
    after_prefix,
    domain_of,
    entry_of,
    intervals_of,
    rank,
)
from tests.index.reference.literal_cases import is_true, literal, literals, values_of

SCALARS = ("b", "i", "f", "s")
LISTS = ("l", "t")


@pytest.mark.parametrize(
    ("given", "intervals"),
    [
        (literal("i", Op.IN, (1, 5)), "[1, 1] [5, 5]"),
        (literal("i", Op.IN, (1, 5), positive=False), "(-∞, 1) (1, 5) (5, ∞)"),
        (literal("i", Op.LT, 3), "(-∞, 3)"),
        (literal("i", Op.LE, 3), "(-∞, 3]"),
        (literal("i", Op.GT, 3), "(3, ∞)"),
        (literal("i", Op.GE, 3), "[3, ∞)"),
        (literal("i", Op.BETWEEN, (1, 5)), "[1, 5]"),
        (literal("i", Op.BETWEEN, (1, 5), positive=False), "(-∞, 1) (5, ∞)"),
        (literal("b", Op.IN, (True,)), "[True, True]"),
        (literal("s", Op.STARTS_WITH, "ab"), "['ab', 'ac')"),
        (literal("s", Op.STARTS_WITH, "ab", positive=False), "(-∞, 'ab') ['ac', ∞)"),
        (literal("s", Op.ENDS_WITH, "ab"), "['ba', 'bb')"),
        (literal("l", Op.ANY_OF, (1, 5)), "[1, 1] [5, 5]"),
    ],
)
def test_the_values_of_a_literal(given: Literal, intervals: str) -> None:
    assert " ".join(map(str, intervals_of(given))) == intervals


@pytest.mark.parametrize(
    ("prefix", "after"),
    [
        ("a", "b"),
        ("a\U0010ffff\U0010ffff", "b"),
        ("\ud7ff", "\ue000"),
        ("\U0010ffff", None),
        ("\uffff", "\U00010000"),
    ],
)
def test_the_string_after_a_prefix(prefix: str, after: str | None) -> None:
    assert after_prefix(prefix) == after


@pytest.mark.parametrize(
    ("given", "entry"),
    [
        (literal("s", Op.IN, ("x",)), Spaces(Domain.VALUE, (point("x"),))),
        (
            literal("s", Op.ENDS_WITH, "ab"),
            Spaces(Domain.REVERSED, (Interval("ba", True, "bb", False),)),
        ),
        (literal("l", Op.ANY_OF, (1,)), Spaces(Domain.VALUE, (point(1),))),
        (literal("l", Op.ALL_OF, (1, 2)), Choice(Domain.VALUE, (point(1), point(2)))),
        (literal("l", Op.ANY_OF, (1,), positive=False), Present()),
        (literal("l", Op.ALL_OF, (1, 2), positive=False), Present()),
        (literal("l", Op.IS_EMPTY), Present()),
        (literal("l", Op.IS_EMPTY, positive=False), Present()),
        (literal("s", Op.CONTAINS, "x"), Present()),
        (literal("s", Op.CONTAINS, "x", positive=False), Present()),
        (literal("i", Op.IS_NULL, positive=False), Present()),
        (literal("i", Op.IS_NULL), Missing()),
    ],
)
def test_how_a_literal_is_entered(
    given: Literal, entry: Spaces | Choice | Present | Missing
) -> None:
    assert entry_of(given) == entry


def test_none_of_has_no_spaces() -> None:
    with pytest.raises(ValueError, match="none of"):
        intervals_of(literal("l", Op.ANY_OF, (1,), positive=False))


def test_the_ranking_of_section_3_3() -> None:
    ascending = [
        literal("i", Op.IN, (1,)),
        literal("i", Op.IN, (1, 2)),
        literal("i", Op.IN, (1, 2, 3)),
        literal("s", Op.STARTS_WITH, "abc"),
        literal("s", Op.STARTS_WITH, "a"),
        literal("i", Op.BETWEEN, (1, 5)),
        literal("i", Op.BETWEEN, (1, 10)),
        literal("i", Op.GE, 1),
        literal("i", Op.IN, (1, 2, 3), positive=False),
        literal("i", Op.IN, (1, 2), positive=False),
        literal("i", Op.IN, (1,), positive=False),
        literal("s", Op.CONTAINS, "x"),
    ]
    ranks = list(map(rank, ascending))
    assert ranks == sorted(set(ranks))
    assert rank(literal("l", Op.ALL_OF, (1, 2, 3))) < rank(literal("l", Op.ALL_OF, (1, 2)))
    assert rank(literal("i", Op.IS_NULL)) == rank(literal("l", Op.IS_EMPTY))


@given(literals(SCALARS), st.data())
def test_a_scalar_is_in_the_spaces_exactly_when_the_literal_is_true(
    given: Literal, data: st.DataObject
) -> None:
    attribute, domain = given.predicate.attribute, domain_of(given)
    if domain is None:
        assert isinstance(entry_of(given), Present | Missing)
        return
    check_disjoint(intervals_of(given), elements_of(given.predicate.type))
    tree: PSTree[Literal] = PSTree(elements_of(given.predicate.type))
    tree.insert(given, intervals_of(given))
    for value in data.draw(st.lists(values_of(attribute), min_size=1)):
        assert not isinstance(value, frozenset)
        located = tree.locate(domain.image(value)).members
        assert (located == {given}) == is_true(given, {attribute: value})


@given(literals(LISTS), st.data())
def test_a_list_enters_by_its_elements(given: Literal, data: st.DataObject) -> None:
    """Of `any of` some element decides; `all of` is never true without each of its points."""
    attribute, entry = given.predicate.attribute, entry_of(given)
    value: Value = data.draw(values_of(attribute))
    assert isinstance(value, frozenset)
    match entry:
        case Spaces(_, intervals):
            assert is_true(given, {attribute: value}) == any(i.low in value for i in intervals)
        case Choice(_, intervals):
            assert is_true(given, {attribute: value}) == all(i.low in value for i in intervals)
        case Missing():
            assert not is_true(given, {attribute: value})
        case Present():
            assert not is_true(given, {})
