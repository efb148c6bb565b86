"""Matching: the thesis's example, and laws against a naive evaluation."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.reference.a_tree import ATree
from index.reference.a_tree_expression import Entry
from index.reference.a_tree_match import Matcher
from tests.index.reference.nested_expressions import KEYS, Nested, all_of, any_of, graph_of, nested
from tests.index.reference.test_a_tree import S1, S2, S3, S4, S5, S6

Step = tuple[int, Nested | None]
"""Insert or replace under an id; or remove, where there is no expression."""
Event = dict[str, bool]


EXPRESSIONS = dict(enumerate((S1, S2, S3, S4, S5, S6), 1))
RANKS = {"Pd": 0.1, "Pi": 0.2, "Pj": 0.3}


def orders() -> list[list[int]]:
    ids = list(EXPRESSIONS)
    shuffled = [random.Random(seed).sample(ids, len(ids)) for seed in range(10)]
    return [ids, ids[::-1], *shuffled]


@pytest.mark.parametrize("order", orders())
def test_example_9_3_4_optimised(order: list[int]) -> None:
    """Nodes 1 9 10, then 11 14, then 15: with Pd, Pi the access children, as in figure 9.3.2."""
    tree = ATree[str](rank=lambda key: RANKS.get(key, 0.5))
    for number in order:
        tree.insert(number, graph_of(EXPRESSIONS[number]))
    matcher = Matcher(tree)
    assert matcher.match(["Pa", "Pi", "Pj"]) == {3, 6}
    assert matcher.last_visits == 3 + 2 + 1


def test_the_next_event_sees_nothing_of_the_last() -> None:
    tree = ATree[str]()
    tree.insert(1, graph_of(all_of("Pa", "Pb")))
    matcher, other = Matcher(tree), Matcher(tree)
    assert matcher.match(["Pa", "Pb"]) == {1}
    assert matcher.match(["Pa"]) == set()
    assert other.match(["Pb"]) == set()
    assert other.match([]) == set()


def test_an_and_waits_for_its_highest_child() -> None:
    """Entered at level 1, it must not look at a child of level 3 before that is settled."""
    deep = any_of(all_of(any_of("Pa", "Pb"), "Pc"), "Pd")
    tree = ATree[str](rank=lambda key: 0.0 if key == "Px" else 1.0)
    tree.insert(1, graph_of(all_of("Px", deep)))
    assert tree.root(1).access_child is tree.leaf("Px")
    assert Matcher(tree).match(["Px", "Pb", "Pc"]) == {1}


def test_an_and_is_not_visited_when_its_access_child_is_untrue() -> None:
    tree = ATree[str](rank=lambda key: 0.0 if key == "rare" else 1.0)
    for number in range(50):
        tree.insert(number, graph_of(all_of("rare", "common", f"P{number}")))
    matcher = Matcher(tree)
    assert matcher.match(["common"]) == set()
    assert matcher.last_visits == 1


def test_leaves_that_no_expression_uses_and_repeats_are_ignored() -> None:
    tree = ATree[str]()
    tree.insert(1, graph_of(any_of("Pa", "Pb")))
    assert Matcher(tree).match(["Pz", "Pa", "Pa"]) == {1}


def test_a_single_predicate_is_an_expression() -> None:
    tree = ATree[str]()
    tree.insert(1, [("leaf", "Pa")])
    tree.insert(2, [("leaf", "Pa"), ("leaf", "Pb"), ("and", (0, 1))])
    assert Matcher(tree).match(["Pa"]) == {1}
    assert Matcher(tree).match(["Pa", "Pb"]) == {1, 2}


def ladder(rungs: int) -> list[Entry[tuple[int, bool]]]:
    """x0 xor x1 xor … with the negations pushed down: each step and its negation, shared.

    Leaf (i, sign) is xi or its negation; written as a tree it would have 2**rungs leaves.
    """
    graph: list[Entry[tuple[int, bool]]] = [("leaf", (0, True)), ("leaf", (0, False))]
    yes, no = 0, 1
    for rung in range(1, rungs):
        more = len(graph)
        less = more + 1
        graph += [("leaf", (rung, True)), ("leaf", (rung, False))]
        graph += [("and", (yes, less)), ("and", (no, more)), ("or", (more + 2, more + 3))]
        graph += [("and", (yes, more)), ("and", (no, less)), ("or", (more + 5, more + 6))]
        yes, no = more + 4, more + 7
    return graph[: yes + 1]


@pytest.mark.parametrize("rungs", [1_000, 3_000])
def test_a_shared_graph_stays_linear_and_never_recurses(rungs: int) -> None:
    tree = ATree[tuple[int, bool]]()
    tree.insert(1, ladder(rungs))
    # Two leaves a rung, and six gates a step; the last step has no use for its negation.
    assert len(list(tree.nodes())) == 2 * rungs + 6 * (rungs - 1) - 3
    assert tree.root(1).level == 2 * rungs - 1
    tree.check_invariants()
    matcher = Matcher(tree)
    chooser = random.Random(7)
    for _ in range(4):
        values = [chooser.random() < 0.5 for _ in range(rungs)]
        assert matcher.match(enumerate(values)) == ({1} if sum(values) % 2 else set())
        assert matcher.last_visits <= len(list(tree.nodes()))
    assert tree.remove(1)
    assert list(tree.nodes()) == []


expressions = nested(max_leaves=8)


def histories(expressions: st.SearchStrategy[Nested]) -> st.SearchStrategy[list[Step]]:
    return st.lists(st.tuples(st.integers(1, 6), st.none() | expressions), max_size=12)


events = st.lists(st.dictionaries(st.sampled_from(KEYS), st.booleans()), min_size=1, max_size=4)


def naive(expression: Nested, event: Event) -> bool:
    """Whether an event makes an expression true; a missing leaf is not true."""
    if isinstance(expression, str):
        return event.get(expression, False)
    kind, children = expression
    values = [naive(child, event) for child in children]
    return all(values) if kind == "and" else any(values)


def built(history: list[Step]) -> tuple[ATree[str], dict[int, Nested]]:
    """The tree after the history, and what it should hold."""
    tree = ATree[str](rank=lambda key: ord(key) % 4)
    held: dict[int, Nested] = {}
    for expression_id, expression in history:
        held.pop(expression_id, None)
        if expression is None:
            tree.remove(expression_id)
        else:
            tree.insert(expression_id, graph_of(expression))
            held[expression_id] = expression
    return tree, held


@given(histories(expressions), events)
def test_matching_equals_naive_evaluation(history: list[Step], happenings: list[Event]) -> None:
    tree, held = built(history)
    matcher = Matcher(tree)
    for event in happenings:
        expected = {i for i, expression in held.items() if naive(expression, event)}
        assert matcher.match(key for key, value in event.items() if value) == expected


@given(st.lists(expressions, max_size=8), st.randoms(use_true_random=False), events)
def test_arrival_order_does_not_change_the_answers(
    expressions: list[Nested], shuffled: random.Random, happenings: list[Event]
) -> None:
    history: list[Step] = list(enumerate(expressions))
    first, _ = built(history)
    shuffled.shuffle(history)
    second, _ = built(history)
    for event in happenings:
        satisfied = [key for key, value in event.items() if value]
        answer = Matcher(first).match(satisfied)
        assert Matcher(second).match(satisfied) == answer
