"""PSTHash: figure 8.1.1, the choice of access literals, the cap, and laws against a scan."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.event import Value
from index.language.operators import Op
from index.language.predicate import Literal
from index.reference.pst_hash import PSTHash
from index.reference.space_table import Space
from tests.index.reference.literal_cases import events, is_true, literal, literals


def equals(attribute: str, value: int) -> Literal:
    return literal(attribute, Op.IN, (value,))


def figure_8_1_1() -> PSTHash:
    index = PSTHash()
    index.insert(1, [equals("i1", 1), equals("i2", -1), literal("i3", Op.LT, 0)])
    index.insert(2, [equals("i1", 1), equals("i2", -1), literal("i3", Op.GT, 0)])
    index.insert(3, [equals("i1", 1), literal("i2", Op.LT, -1), equals("i3", 0)])
    index.insert(4, [literal("i1", Op.LT, 1), equals("i2", -1), equals("i3", 0)])
    return index


def by_position(index: PSTHash, space: Space) -> str:
    """A space as the thesis writes it: its attribute's number, its place in order."""
    leaves = [leaf.space_id for leaf in index.access.trees[space.dimension].leaves()]
    return f"[{space.dimension.attribute[1:]}-{leaves.index(space.space_id) + 1}]"


# ---- the thesis's example -----------------------------------------------------------------


def test_figure_8_1_1_has_three_keys() -> None:
    index = figure_8_1_1()
    keys = {
        "".join(by_position(index, space) for space in key): set(ids)
        for key, ids in index.table.items().items()
    }
    assert keys == {"[1-2][2-2]": {1, 2}, "[1-2][3-2]": {3}, "[2-2][3-2]": {4}}
    index.check_invariants()


def test_figure_8_1_1_finds_s2() -> None:
    index = figure_8_1_1()
    event: dict[str, Value] = {"i1": 1, "i2": -1, "i3": 2}
    spaces = index.access.locate(event)
    assert [by_position(index, space) for space in spaces] == ["[1-2]", "[2-2]", "[3-3]"]
    assert set(index.table[tuple(spaces[:2])]) == {1, 2}
    assert index.match(event) == {2}


def test_figure_8_1_1_plans_and_stats() -> None:
    index = figure_8_1_1()
    assert index.plan(3) == {"way": "pair", "access": ["i1 = 1", "i3 = 0"], "keys": 1}
    assert index.stats() == {
        "subscriptions": 4,
        "pairs": 4,
        "singles": 0,
        "access_literals": 3,
        "trees": 3,
        "spaces": 9,
        "keys": 3,
        "events": 0,
    }


# ---- access literals ----------------------------------------------------------------------


def test_without_events_the_operator_ranking_chooses() -> None:
    index = PSTHash()
    index.insert(1, [literal("i1", Op.GE, 1), literal("i2", Op.IN, (1, 2)), equals("i3", 4)])
    assert index.plan(1)["access"] == ["i3 = 4", "i2 in (1, 2)"]


def test_with_events_the_rarer_literal_is_chosen() -> None:
    index = PSTHash()
    for id, attribute in enumerate(("i1", "i2", "i3")):
        index.insert(id, [equals(attribute, 1), literal(attribute, Op.GE, 5)])
    for n in range(10):
        index.record({"i1": 1, "i2": 5 if n else 1, "i3": 9})
    index.insert(9, [equals("i1", 1), equals("i2", 1), literal("i3", Op.BETWEEN, (2, 3))])
    assert index.plan(9)["access"] == ["i2 = 1", "i3 between 2 and 3"]
    index.check_invariants()


def test_an_attribute_without_history_puts_the_ranking_back_in_charge() -> None:
    index = PSTHash()
    index.insert(1, [equals("i1", 1)])
    for _ in range(10):
        index.record({"i1": 1})
    index.insert(2, [equals("i1", 1), literal("i2", Op.GE, 1), literal("i3", Op.IN, (1, 2))])
    assert index.plan(2)["access"] == ["i1 = 1", "i3 in (1, 2)"]


def test_a_pair_takes_two_attributes() -> None:
    index = PSTHash()
    index.insert(1, [literal("s", Op.STARTS_WITH, "ab"), literal("s", Op.ENDS_WITH, "ba")])
    assert index.plan(1)["way"] == "single"
    assert index.match({"s": "aba"}) == {1}
    assert index.match({"s": "abb"}) == set()


def test_a_suffix_is_accessed_through_reversed_strings() -> None:
    index = PSTHash()
    index.insert(1, [literal("s", Op.ENDS_WITH, ".news"), equals("i", 1)])
    assert index.plan(1) == {"way": "pair", "access": ["i = 1", "s ends with '.news'"], "keys": 1}
    assert index.match({"s": "a.news", "i": 1}) == {1}
    assert index.match({"s": ".newsa", "i": 1}) == set()


def test_lists_and_pulled_literals_are_never_accessed() -> None:
    pulled = [
        literal("l", Op.ANY_OF, (1,)),
        literal("l", Op.ALL_OF, (1, 2)),
        literal("s", Op.CONTAINS, "x"),
        literal("i", Op.IS_NULL),
        literal("i", Op.IS_NULL, positive=False),
    ]
    assert not PSTHash.can_index(pulled)
    assert PSTHash.can_index([*pulled, equals("i2", 1)])
    index = PSTHash()
    with pytest.raises(ValueError, match="access"):
        index.insert(1, pulled)
    assert len(index) == 0
    index.insert(1, [literal("l", Op.ANY_OF, (1,)), literal("i", Op.IS_NULL), equals("i2", 1)])
    assert index.plan(1)["way"] == "single"
    assert index.match({"l": frozenset({1, 7}), "i2": 1}) == {1}
    assert index.match({"l": frozenset({1, 7}), "i2": 1, "i": 0}) == set()
    assert index.match({"i2": 1}) == set()


def test_shared_access_literals_are_one_member() -> None:
    index = figure_8_1_1()
    assert all(len(tree) == 1 for tree in index.access.trees.values())
    index.remove(1)
    index.remove(2)
    assert index.stats()["access_literals"] == 3
    index.remove(3)
    assert index.stats()["access_literals"] == 2
    index.check_invariants()


# ---- splits, merges and the cap -----------------------------------------------------------


def test_a_split_copies_and_a_merge_drops_the_records() -> None:
    index = PSTHash()
    index.insert(1, [literal("i1", Op.BETWEEN, (0, 9)), equals("i2", 1)])
    assert index.plan(1)["keys"] == 1
    index.insert(2, [literal("i1", Op.BETWEEN, (3, 5)), equals("i2", 1)])
    assert index.plan(1)["keys"] == 3
    assert index.match({"i1": 4, "i2": 1}) == {1, 2}
    assert index.match({"i1": 6, "i2": 1}) == {1}
    index.remove(2)
    assert index.plan(1)["keys"] == 1
    index.check_invariants()


def test_a_split_copies_the_records_of_all_who_share_a_key() -> None:
    index = PSTHash()
    for id in (1, 2, 3):
        index.insert(id, [literal("i1", Op.BETWEEN, (0, 9)), equals("i2", 1)])
    index.insert(4, [equals("i1", 5), equals("i2", 1)])
    assert index.match({"i1": 5, "i2": 1}) == {1, 2, 3, 4}
    assert index.match({"i1": 6, "i2": 1}) == {1, 2, 3}
    index.check_invariants()


def test_a_pair_that_would_expand_too_far_is_single_from_the_start() -> None:
    index = PSTHash(max_pair_spaces=8)
    index.insert(1, [literal("i1", Op.IN, (1, 2, 3)), literal("i2", Op.IN, (1, 2, 3))])
    assert index.plan(1) == {"way": "single", "access": ["i1 in (1, 2, 3)"], "keys": 3}
    assert index.stats()["trees"] == 1
    assert index.match({"i1": 2, "i2": 3}) == {1}
    assert index.match({"i1": 2, "i2": 4}) == set()
    index.check_invariants()


def test_a_pair_that_outgrows_the_cap_becomes_single() -> None:
    index = PSTHash(max_pair_spaces=4)
    index.insert(1, [literal("i1", Op.BETWEEN, (0, 99)), equals("i2", 1)])
    for n in range(5):
        index.insert(10 + n, [equals("i1", 10 * n), equals("i2", 2)])
        index.check_invariants()
    assert index.plan(1) == {"way": "single", "access": ["i2 = 1"], "keys": 1}
    assert index.match({"i1": 20, "i2": 1}) == {1}
    assert index.match({"i1": 100, "i2": 1}) == set()


def test_a_used_id_is_refused_and_an_unknown_one_is_an_error() -> None:
    index = figure_8_1_1()
    with pytest.raises(ValueError, match="already"):
        index.insert(1, [equals("i1", 1)])
    with pytest.raises(KeyError):
        index.remove(99)
    assert 1 in index
    assert 99 not in index


# ---- laws ---------------------------------------------------------------------------------

ATTRIBUTES = ("b", "i1", "i2", "f", "s", "l", "t")
# Half of them are on two attributes only, so that subscriptions meet under the same keys.
conjunctions = st.one_of(
    st.lists(literals(("i1", "i2")), min_size=2, max_size=3),
    st.lists(literals(ATTRIBUTES), min_size=1, max_size=4),
).filter(PSTHash.can_index)
ids = st.integers(0, 9)
Step = tuple[str, int | dict[str, Value], list[Literal]]
steps: st.SearchStrategy[list[Step]] = st.lists(
    st.one_of(
        st.tuples(st.just("insert"), ids, conjunctions),
        st.tuples(st.just("remove"), ids, st.just([])),
        st.tuples(st.just("record"), events(ATTRIBUTES), st.just([])),
    ),
    min_size=6,
    max_size=15,
)


def holds_nothing(index: PSTHash) -> bool:
    counts = index.stats()
    return not any(count for name, count in counts.items() if name != "events")


@given(steps, st.lists(events(ATTRIBUTES), max_size=5), st.sampled_from([0, 1, 3, 256]))
def test_match_agrees_with_checking_every_subscription(
    steps: list[Step],
    events: list[dict[str, Value]],
    cap: int,
) -> None:
    index = PSTHash(max_pair_spaces=cap)
    kept: dict[int, list[Literal]] = {}
    for what, argument, conjunction in steps:
        if isinstance(argument, dict):
            index.record(argument)
        else:
            if kept.pop(argument, None) is not None:
                index.remove(argument)
            if what == "insert":
                index.insert(argument, conjunction)
                kept[argument] = conjunction
        index.check_invariants()
        for event in events:
            expected = {id for id, all_of in kept.items() if all(is_true(x, event) for x in all_of)}
            assert index.match(event) == expected
    for id in kept:
        index.remove(id)
        index.check_invariants()
    assert holds_nothing(index)


@given(st.lists(conjunctions, max_size=6), conjunctions)
def test_insert_then_remove_is_identity(
    subscriptions: list[list[Literal]], another: list[Literal]
) -> None:
    index = PSTHash()
    for id, conjunction in enumerate(subscriptions):
        index.insert(id, conjunction)
    before, plans = index.stats(), [index.plan(id) for id in range(len(subscriptions))]
    index.insert(99, another)
    index.remove(99)
    assert index.stats() == before
    assert [index.plan(id) for id in range(len(subscriptions))] == plans
