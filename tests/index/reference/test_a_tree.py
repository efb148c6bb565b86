"""The A-Tree's structure: the thesis's figures, the contract of graphs, and laws."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.reference.a_tree import ATree
from index.reference.a_tree_expression import Entry, GraphError, canonical
from index.reference.a_tree_node import Node
from tests.index.reference.nested_expressions import Nested, all_of, any_of, flat, graph_of, nested


def tree_of(*expressions: Nested) -> ATree[str]:
    """A tree with the expressions under 1, 2, 3, …"""
    tree = ATree[str]()
    for number, expression in enumerate(expressions, 1):
        tree.insert(number, graph_of(expression))
        tree.check_invariants()
    return tree


def meaning(node: Node[str]) -> object:
    """A node as nested sets of its operands, whatever its physical children are."""
    if node.kind == "leaf":
        return node.key[1]
    return (node.kind, frozenset(meaning(operand) for operand in node.operands))


def shape(tree: ATree[str]) -> set[tuple[int, frozenset[int], int, int]]:
    """Everything about the links that matching depends on."""
    return {
        (node.number, frozenset(c.number for c in node.children), node.level, node.use_count)
        for node in tree.nodes()
    }


S1 = all_of(any_of("Pa", "Pb", "Pc"), "Pd", any_of("Pe", "Pf"))
S2 = all_of(any_of("Pe", "Pf"), any_of("Pg", "Ph"))
S3 = any_of("Pa", "Pb", "Pc", "Pd")
S4 = all_of(any_of("Pa", "Pb", "Pc"), "Pd")
S5 = all_of(any_of("Pg", "Ph"), any_of("Pf", "Pe"))
S6 = all_of("Pi", "Pj")  # not (Pg or Ph), with Pi = not Pg and Pj = not Ph


def test_figure_9_1_1_costs_25() -> None:
    tree = tree_of(S1, S2)
    nodes = list(tree.nodes())
    assert len(nodes) == 13
    assert sum(len(node.children) for node in nodes) == 12
    assert tree.cost() == 25
    assert [tree.root(1).level, tree.root(2).level] == [3, 3]


def test_reorganising_an_or_of_four_over_an_or_of_three_adds_3() -> None:
    tree = tree_of(S1, S2)
    tree.insert(3, graph_of(S3))
    assert tree.cost() == 25 + 3
    assert {meaning(child) for child in tree.root(3).children} == {
        ("or", frozenset({"Pa", "Pb", "Pc"})),
        "Pd",
    }
    assert {meaning(member) for member in tree.root(3).members} == {"Pa", "Pb", "Pc", "Pd"}


def test_a_cover_may_overlap() -> None:
    """Section 9.2.2: Pc is reached twice."""
    tree = tree_of(
        all_of("Pa", "Pb", "Pc"), all_of("Pc", "Pd", "Pe"), all_of("Pa", "Pb", "Pc", "Pd", "Pe")
    )
    assert tree.root(3).children == {tree.root(1), tree.root(2)}


def test_a_piece_that_brings_one_member_is_not_taken() -> None:
    """The example of 9.2.2 itself: after Pa and Pb and Pc, the piece Pc and Pd brings only Pd,
    which costs the same edge by itself and is a level lower.
    """
    tree = tree_of(all_of("Pa", "Pb", "Pc"), all_of("Pc", "Pd"), all_of("Pa", "Pb", "Pc", "Pd"))
    assert tree.root(3).children == {tree.root(1), tree.leaf("Pd")}
    assert tree.cost() == (4 + 3) + (3 + 2 + 2), "as much as with (Pa Pb Pc) and (Pc Pd)"


def test_of_equal_pieces_the_oldest_is_taken() -> None:
    tree = tree_of(any_of("b", "c"), any_of("a", "b"), any_of("a", "b", "c"))
    assert tree.root(3).children == {tree.root(1), tree.leaf("a")}


def test_an_older_expression_adjusts_itself_to_a_newer_one() -> None:
    """Section 9.2.3: the first expression of figure 9.1.1 takes S4 for two of its children."""
    tree = tree_of(S1, S2)
    tree.insert(4, graph_of(S4))
    assert tree.root(4) in tree.root(1).children
    assert len(tree.root(1).children) == 2
    assert tree.root(1).level == 4
    assert tree.cost() == 25 + 1 + 2 - 1
    tree.check_invariants()


def test_an_adjustment_lifts_all_that_stands_above() -> None:
    """S1 below a gate of another kind; and all sinks again when S4 goes."""
    tree = tree_of(any_of(S1, "Px"), all_of(any_of(S1, "Px"), "Py"))
    before = shape(tree)
    assert [tree.root(1).level, tree.root(2).level] == [4, 5]
    tree.insert(3, graph_of(S4))
    assert [tree.root(1).level, tree.root(2).level] == [5, 6]
    tree.remove(3)
    assert shape(tree) == before


def test_figure_9_3_2() -> None:
    tree = tree_of(S1, S2, S3, S4, S5, S6)
    kinds = [node.kind for node in tree.nodes()]
    assert kinds.count("leaf") == 10
    assert len(kinds) - kinds.count("leaf") == 8
    assert tree.root(2) is tree.root(5)
    assert {frozenset(n.expressions) for n in tree.nodes() if n.expressions} == {
        frozenset({3}), frozenset({4}), frozenset({2, 5}), frozenset({6}), frozenset({1}),
    }  # fmt: skip
    assert tree.root(4) in tree.root(1).children
    assert max(node.level for node in tree.nodes()) == 4


def test_a_borrowed_node_goes_when_its_expression_does() -> None:
    """Section 9.2.4: S1 borrowed S4, which is no use of it."""
    tree = tree_of(S1, S4)
    borrowed = tree.root(2)
    assert borrowed in tree.root(1).children
    assert borrowed.use_count == 1
    assert tree.remove(2)
    tree.check_invariants()
    assert borrowed not in set(tree.nodes())
    assert len(tree.root(1).children) == 3


def test_a_used_node_outlives_its_expression() -> None:
    tree = tree_of(any_of("Pe", "Pf"), S2)
    inner = tree.root(1)
    assert inner.use_count == 2
    tree.remove(1)
    tree.check_invariants()
    assert inner.use_count == 1
    assert not inner.expressions
    assert inner in tree.root(2).members


def test_removing_a_borrowed_node_restores_the_cover_that_was_there() -> None:
    """With algorithm 21 and 9.2.4 to the letter `abcdefg` would be (abc) (def) g before, and
    (bcde) a f g after, through the children of `abcdef`; see `a_tree_reorganise`.
    """
    tree = tree_of(all_of(*"abc"), all_of(*"def"), all_of(*"abcdefg"))
    tree.insert(4, graph_of(all_of(*"bcde")))
    before, cost = shape(tree), tree.cost()
    tree.insert(5, graph_of(all_of(*"abcdef")))
    tree.check_invariants()
    tree.remove(5)
    tree.check_invariants()
    assert (shape(tree), tree.cost()) == (before, cost)


def test_equal_expressions_share_a_root_until_the_last_has_gone() -> None:
    tree = tree_of(S2, S5)
    assert tree.root(1) is tree.root(2)
    assert tree.root(1).expressions == {1, 2}
    tree.remove(1)
    assert tree.root(2).expressions == {2}
    tree.remove(2)
    assert list(tree.nodes()) == []


def test_an_and_enters_through_its_rarest_child() -> None:
    ranks = {"Pa": 0.3, "Pb": 0.3, "Pc": 0.4, "Pd": 0.9, "Pe": 0.95}
    tree = ATree[str](rank=ranks.__getitem__)
    tree.insert(1, graph_of(all_of(any_of("Pa", "Pb", "Pc"), "Pd", "Pe")))
    assert tree.root(1).access_child is tree.leaf("Pd"), "an OR is as frequent as all together"
    tree.insert(2, graph_of(all_of(any_of("Pa", "Pb"), "Pd", "Pe")))
    assert tree.root(2).access_child is not tree.leaf("Pd")
    tree.insert(3, graph_of(all_of("Pd", "Pe")))
    assert tree.root(1).access_child is tree.root(3), "the way in moved with the children"
    tree.check_invariants()


def test_leaves_are_announced_once_each_way() -> None:
    log: list[str] = []
    tree = ATree[str](
        on_new_leaf=lambda key: log.append(f"+{key}"),
        on_gone_leaf=lambda key: log.append(f"-{key}"),
    )
    tree.insert(1, graph_of(all_of("Pa", "Pb")))
    tree.insert(2, graph_of(any_of("Pa", "Pb")))
    assert sorted(log) == ["+Pa", "+Pb"]
    assert sorted(tree.leaves()) == ["Pa", "Pb"]
    tree.remove(1)
    tree.insert(2, graph_of(any_of("Pb", "Pc")))
    assert log[2:] == ["+Pc", "-Pa"], "what is shared with the replaced one stays"


def test_inserting_under_a_known_id_replaces() -> None:
    tree = tree_of(S1)
    tree.insert(1, graph_of(S2))
    tree.check_invariants()
    assert (len(tree), tree.cost()) == (1, tree_of(S2).cost())
    tree.insert(1, graph_of(S5))
    tree.check_invariants()
    assert (len(tree), 1 in tree, 2 in tree) == (1, True, False)


def test_removing_what_is_not_there_says_so() -> None:
    tree = tree_of(S1)
    assert not tree.remove(2)
    assert tree.remove(1)
    assert not tree.remove(1)


BAD: list[tuple[list[Any], int, str]] = [
    ([], 0, "a graph needs at least one entry"),
    ([("and", (0, 1))], 0, "child 0 does not come before it"),
    ([("leaf", "a"), ("or", (0, -1))], 1, "child -1 does not come before it"),
    ([("leaf", "a"), ("or", (0,))], 1, "or takes two children or more, got 1"),
    ([("leaf", "a"), ("and", (0, 0))], 1, "and has equal children"),
    ([("leaf", "a"), ("leaf", "a"), ("and", (0, 1))], 2, "and has equal children"),
    (
        [("leaf", "a"), ("leaf", "b"), ("leaf", "c"), ("or", (0, 1)), ("or", (2, 3))],
        4,
        "or directly below or is not flattened",
    ),
]


@pytest.mark.parametrize(("graph", "position", "reason"), BAD)
def test_a_malformed_graph_changes_nothing(graph: list[Any], position: int, reason: str) -> None:
    tree = tree_of(S1, S2)
    before = shape(tree)
    with pytest.raises(GraphError) as raised:
        tree.insert(1, graph)
    assert (raised.value.position, raised.value.reason) == (position, reason)
    assert shape(tree) == before


def test_canonical_merges_equal_entries_and_drops_unreachable_ones() -> None:
    graph: list[Entry[str]] = [
        ("leaf", "a"), ("leaf", "unused"), ("leaf", "b"), ("leaf", "a"),
        ("or", (0, 2)), ("or", (2, 3)), ("leaf", "c"), ("and", (4, 6)), ("leaf", "d"),
        ("and", (8, 5)), ("or", (9, 7)),
    ]  # fmt: skip
    assert canonical(graph) == [
        ("leaf", "a"), ("leaf", "b"), ("or", (0, 1)), ("leaf", "c"), ("and", (2, 3)),
        ("leaf", "d"), ("and", (2, 5)), ("or", (4, 6)),
    ]  # fmt: skip


def test_graph_of_flattens_shares_and_collapses() -> None:
    ab = any_of("a", "b")
    assert graph_of(any_of(all_of(ab, ab), "c")) == [
        ("leaf", "a"), ("leaf", "b"), ("or", (0, 1)), ("leaf", "c"), ("or", (0, 1, 3)),
    ]  # fmt: skip
    assert graph_of(all_of("a", "a")) == [("leaf", "a")]


# Flat gates often: they are the pieces and wholes that reorganisation is about.
expressions = st.one_of(flat, nested(max_leaves=6))
steps = st.lists(st.tuples(st.integers(1, 8), st.none() | expressions), max_size=16)


def apply(tree: ATree[str], step: tuple[int, Nested | None]) -> None:
    """Insert or replace, or remove where there is no expression."""
    expression_id, expression = step
    if expression is None:
        tree.remove(expression_id)
    else:
        tree.insert(expression_id, graph_of(expression))


@given(steps)
def test_every_step_keeps_the_invariants(history: list[tuple[int, Nested | None]]) -> None:
    tree = ATree[str](rank=lambda key: ord(key) % 4)
    for step in history:
        apply(tree, step)
        tree.check_invariants()


@given(steps)
def test_an_emptied_tree_holds_nothing(history: list[tuple[int, Nested | None]]) -> None:
    alive: set[str] = set()
    tree = ATree[str](on_new_leaf=alive.add, on_gone_leaf=alive.remove)
    for step in history:
        apply(tree, step)
        assert alive == set(tree.leaves())
    for expression_id in range(1, 9):
        tree.remove(expression_id)
        tree.check_invariants()
    assert (len(tree), tree.cost(), list(tree.nodes()), alive) == (0, 0, [], set())


@given(steps, expressions)
def test_insert_then_remove_is_identity(
    history: list[tuple[int, Nested | None]], expression: Nested
) -> None:
    tree = ATree[str]()
    for step in history:
        apply(tree, step)
    before, cost = shape(tree), tree.cost()
    tree.insert(99, graph_of(expression))
    tree.remove(99)
    assert (shape(tree), tree.cost()) == (before, cost)


@given(st.lists(expressions, max_size=8), st.randoms(use_true_random=False))
def test_arrival_order_does_not_change_the_nodes(
    expressions: list[Nested], shuffled: random.Random
) -> None:
    """Nor their use counts; which of two equal pieces is borrowed goes by age."""
    entries = list(enumerate(expressions))
    forwards, backwards = ATree[str](), ATree[str]()
    for number, expression in entries:
        forwards.insert(number, graph_of(expression))
    shuffled.shuffle(entries)
    for number, expression in entries:
        backwards.insert(number, graph_of(expression))
    assert nodes_with_uses(forwards) == nodes_with_uses(backwards)


def nodes_with_uses(tree: ATree[str]) -> list[tuple[str, int]]:
    return sorted((spelled(node), node.use_count) for node in tree.nodes())


def spelled(node: Node[str]) -> str:
    if node.kind == "leaf":
        return str(node.key[1])
    return f"{node.kind}({' '.join(sorted(spelled(operand) for operand in node.operands))})"


@given(expressions)
def test_a_canonical_graph_is_its_own_canonical_form(expression: Nested) -> None:
    once = canonical(graph_of(expression))
    assert canonical(once) == once
