"""Expressions with calls: the engines find the candidates, results decide them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index import Attribute, Index, Query, Schema, parse
from index.costly.formula import CallKey
from index.costly.settlement import MISSING, Settlement
from index.event import Event, check_event
from index.language import Operator, Tree, TreeError, Type, call_of, calls_of, normalize, to_json
from index.rows import RowError
from index.scan import evaluate, possible

SCHEMA = Schema(
    [Attribute("page", "string"), Attribute("app", "string"), Attribute("n", "int")],
    [
        Operator("score", (Type.STRING,), Type.FLOAT),
        Operator("safe", (Type.STRING, Type.INT), Type.BOOL),
        Operator("kind", (Type.STRING,), Type.STRING),
    ],
)
ENGINES = ("native", "reference", "scan")

LEAVES = st.sampled_from(
    [
        "call score(page) >= 0.5",
        "call score(page) < 0.9",
        "call score(app) between 0.2 and 0.8",
        "call safe(page, n)",
        "call safe(app, n) = false",
        "call kind(app) in ('news', 'blog')",
        "call kind(page) starts with 'n'",
        "n = 1",
        "page != 'b'",
        "app is null",
        "true",
    ]
)
TEXTS = st.recursive(
    LEAVES,
    lambda below: st.one_of(
        st.builds("not ({})".format, below),
        st.builds("({}) and ({})".format, below, below),
        st.builds("({}) or ({})".format, below, below),
        st.builds("({}) xor ({}) xnor ({})".format, below, below, below),
    ),
    max_leaves=6,
)
EVENTS = st.fixed_dictionaries(
    {},
    optional={
        "page": st.sampled_from(["a", "b"]),
        "app": st.sampled_from(["a", "c"]),
        "n": st.integers(0, 1),
    },
)
RESULTS = {
    "score": st.sampled_from([0.0, 0.3, 0.5, 0.85, 1.0]),
    "safe": st.booleans(),
    "kind": st.sampled_from(["news", "blog", "shop"]),
}


class Operators:
    """Operators whose results are drawn, the same for equal arguments; some may fail."""

    def __init__(self, data: st.DataObject, can_fail: bool = False) -> None:
        self.made: dict[CallKey, object] = {}
        self._data = data
        self._can_fail = can_fail

    def __call__(self, key: CallKey) -> object:
        if key not in self.made:
            values = RESULTS[key.operator]
            self.made[key] = self._data.draw(st.none() | values if self._can_fail else values)
        return self.made[key]

    def eagerly(self, tree: Tree, event: Event) -> Event:
        """The event with the results of all calls of a tree."""
        found: dict[str, object] = dict(event)
        for name in calls_of(tree):
            call = call_of(name)
            assert call is not None
            if all(each in event for each in call.arguments):
                values = tuple(event[each] for each in call.arguments)
                found[name] = self(CallKey(call.operator, values))
        return {n: value for n, value in found.items() if value is not None}  # type: ignore[misc]


def filled(engine: str, texts: list[str]) -> Index:
    index = Index(SCHEMA, engine=engine)
    index.insert_many((id, text, id % 3) for id, text in enumerate(texts))
    return index


@given(st.lists(TEXTS, min_size=1, max_size=6), EVENTS)
def test_engines_find_the_same_candidates(texts: list[str], event: dict[str, object]) -> None:
    checked, _ = check_event(event, SCHEMA)
    trees = [parse(text, SCHEMA) for text in texts]
    expected = [id for id, tree in enumerate(trees) if possible(tree, checked)[0]]
    pending = [id for id in expected if calls_of(trees[id])]
    for engine in ENGINES:
        found = filled(engine, texts).candidates(event, Query())
        assert (found.ids, found.pending) == (expected, pending)


@given(TEXTS)
def test_the_core_indexes_the_outer_cover(text: str) -> None:
    tree = parse(text, SCHEMA)
    core = Index(SCHEMA, engine="native")._native().core
    assert core.normal_form(to_json(tree).encode()) == normalize(tree, SCHEMA).to_json()


@given(st.lists(TEXTS, min_size=1, max_size=6), EVENTS, st.none() | st.integers(1, 4), st.data())
def test_with_all_results_the_answer_is_that_of_evaluating_everything(
    texts: list[str], event: dict[str, object], limit: int | None, data: st.DataObject
) -> None:
    index = filled("native", texts)
    checked, _ = check_event(event, SCHEMA)
    call = Operators(data, can_fail=True)
    settlement = Settlement(index, event, Query(limit=limit, total=limit == 1))
    while calls := settlement.wanted():
        assert len({key.operator for key in calls}) == 1
        settlement.learn({key: call(key) for key in calls})  # type: ignore[misc]
    made = set(call.made)
    found = settlement.matches()
    matching = [
        id
        for id in index
        if evaluate(index.tree(id), call.eagerly(index.tree(id), checked)) is True
    ]
    best = sorted(matching, key=lambda id: (-(id % 3), id))[:limit]
    assert found.ids == (sorted(best) if limit is None else best)
    assert found.total == (len(matching) if limit == 1 else None)
    assert made == set(settlement.results)


@given(st.lists(TEXTS, min_size=1, max_size=6), EVENTS, st.integers(0, 2), st.data())
def test_with_a_budget_the_answer_is_a_part_of_it(
    texts: list[str], event: dict[str, object], budget: int, data: st.DataObject
) -> None:
    index = filled("native", texts)
    checked, _ = check_event(event, SCHEMA)
    call = Operators(data)
    settlement = Settlement(index, event, Query(limit=3))
    for _ in range(budget):
        settlement.learn({key: call(key) for key in settlement.wanted()})  # type: ignore[misc]
    for id in settlement.matches().ids:
        tree = index.tree(id)
        assert evaluate(tree, call.eagerly(tree, checked)) is True


def test_without_calls_only_what_is_certain_matches() -> None:
    index = filled("native", ["call safe(page, n)", "call safe(page, n) or n = 1", "true"])
    event = {"page": "a", "n": 1}
    assert index.match(event) == [1, 2]
    assert index.top(event, limit=2, total=True) == ([2, 1], 2)
    assert index.candidates(event, Query()).pending == [0, 1]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_total_is_that_of_what_is_certain(engine: str) -> None:
    texts = ["true", "true", "call safe(page, n)", "call safe(page, n) or n = 1"]
    index = Index(SCHEMA, engine=engine)
    index.insert_many((id, text, 10 - id) for id, text in enumerate(texts))
    query, event = Query(limit=1, total=True), {"page": "a", "n": 1}
    assert index.candidates(event, query).pending == [2, 3], "also beyond the limit"
    assert index.top(event, limit=1, total=True) == ([0], 3)
    settlement = Settlement(index, event, query)
    settlement.learn(dict.fromkeys(settlement.wanted(), True))
    assert (settlement.matches().ids, settlement.matches().total) == ([0], 4)
    assert index.top(event, limit=9, total=True) == ([0, 1, 3], 3)


def test_known_results_need_no_calls() -> None:
    index = filled("native", ["call score(page) >= 0.5", "call score(app) >= 0.5"])
    key = CallKey("score", ("a",))
    known = {key: 0.7}
    event = {"page": "a", "app": "b"}
    settlement = Settlement(index, event, Query(limit=5), lambda key: known.get(key, MISSING))
    assert settlement.wanted() == [CallKey("score", ("b",))]
    assert settlement.matches().ids == [0]


def test_equal_arguments_are_one_call_and_an_operator_gets_all_at_once() -> None:
    texts = ["call score(page) >= 0.5", "call score(app) >= 0.5", "call score(page) < 0.2"]
    settlement = Settlement(filled("native", texts), {"page": "a", "app": "b"}, Query(limit=5))
    assert sorted(settlement.wanted()) == [CallKey("score", ("a",)), CallKey("score", ("b",))]
    settlement = Settlement(filled("native", texts), {"page": "a", "app": "a"}, Query(limit=5))
    assert settlement.wanted() == [CallKey("score", ("a",))]


def test_no_more_than_the_limit_is_decided() -> None:
    texts = ["call score(page) >= 0.5", "call kind(app) = 'news'"]
    index = Index(SCHEMA)
    index.insert_many((id, text, 10 - id) for id, text in enumerate(texts))
    settlement = Settlement(index, {"page": "a", "app": "b"}, Query(limit=1))
    assert settlement.wanted() == [CallKey("score", ("a",))]
    settlement.learn({CallKey("score", ("a",)): 1.0})
    assert settlement.wanted() == []
    assert settlement.matches().ids == [0]


def test_the_number_of_candidates_can_be_bounded() -> None:
    index = filled("native", ["call score(page) >= 0.5"] * 50)
    settlement = Settlement(index, {"page": "a"}, Query(limit=10), most=20)
    settlement.learn(dict.fromkeys(settlement.wanted(), 0.1))
    assert settlement.matches().ids == []
    assert settlement.was_cut


def test_an_expression_whose_operator_is_gone_is_unknown() -> None:
    index = filled("native", ["call score(page) >= 0.5", "true"])
    index.use_operators([])
    assert index.match({"page": "a"}) == [1]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_client_cannot_send_results(engine: str) -> None:
    index = filled(engine, ["call safe(page, n)"])
    assert index.match({"page": "a", "n": 1, "call safe(page, n)": True}) == []


def test_pending_ids_are_in_the_snapshot(tmp_path: Path) -> None:
    index = filled("native", ["call safe(page, n)", "n = 1"])
    index.insert(0, "call score(page) > 0.5")
    index.insert(2, "call score(page) > 0.5")
    index.insert(2, "n = 1")
    index.save(tmp_path / "index")
    loaded = Index.load(tmp_path / "index", SCHEMA)
    assert loaded.candidates({"page": "a", "n": 1}, Query()).pending == [0]
    loaded.remove(0)
    assert loaded.candidates({"page": "a", "n": 1}, Query()).pending == []


@pytest.mark.parametrize(
    ("tree", "code"),
    [
        ('[1,["is null","call score(page)"]]', "type.operator"),
        ('[1,["=","call score(nowhere)",1.0]]', "attribute.unknown"),
    ],
)
def test_the_core_refuses_calls_that_python_refuses(tree: str, code: str) -> None:
    for engine in ENGINES:
        index = Index(SCHEMA, engine=engine)
        with pytest.raises(RowError) as caught:
            index.insert_json([(1, tree)])
        assert isinstance(caught.value.problem, TreeError)
        assert caught.value.problem.code == code
