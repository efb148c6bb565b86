"""The main evidence: every engine gives the oracle's answers, after any history of changes.

Each test is a law; its name says which. `make test-long` runs ten thousand examples.
"""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from index import Index, Query, Schema
from index.language import Tree
from tests.index.strategies import (
    FLOORS,
    GROUPS,
    SCORES,
    SOME_GROUPS,
    VERSIONS,
    conjunctions,
    events,
    excludes,
    schemas,
    trees,
)

pytestmark = pytest.mark.laws

EXPRESSIONS: list[Callable[[Schema], st.SearchStrategy[Tree]]] = [trees, conjunctions]


def holds_nothing(index: Index) -> bool:
    """Whether an index has no trace left of what was in it."""
    empty = Index(index.schema, engine=str(index.stats()["engine"])).stats()
    return {**index.stats(), "unknown_attributes": {}} == {**empty, "unknown_attributes": {}}


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize("expressions", EXPRESSIONS, ids=["any", "conjunctions"])
@given(data=st.data())
def test_every_engine_equals_scan(
    expressions: Callable[[Schema], st.SearchStrategy[Tree]], engine: str, data: st.DataObject
) -> None:
    schema = data.draw(schemas())
    index, scan = Index(schema, engine=engine), Index(schema, engine="scan")
    for id, tree in enumerate(data.draw(st.lists(expressions(schema), max_size=6))):
        index.insert(id, tree)
        scan.insert(id, tree)
    index.check_invariants()
    for event in data.draw(st.lists(events(schema), min_size=1, max_size=6)):
        assert index.match(event) == scan.match(event)


@given(data=st.data())
def test_insert_then_remove_is_identity(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    index = Index(schema, engine="reference")
    for id, tree in enumerate(data.draw(st.lists(trees(schema), max_size=4))):
        index.insert(id, tree)
    before = index.stats()
    index.insert(99, data.draw(trees(schema) | conjunctions(schema)))
    index.remove(99)
    index.check_invariants()
    assert index.stats() == before


class Histories(RuleBasedStateMachine):
    """Insert, replace, remove and mute in any order: the reference always equals the oracle."""

    def __init__(self) -> None:
        super().__init__()
        self.schema = Schema()
        self.reference = Index(self.schema, engine="reference")
        self.scan = Index(self.schema, engine="scan")

    @initialize(schema=schemas())
    def start(self, schema: Schema) -> None:
        self.schema = schema
        self.reference = Index(schema, engine="reference")
        self.scan = Index(schema, engine="scan")

    @rule(data=st.data(), id=st.integers(0, 5), score=SCORES, group=GROUPS, version=VERSIONS)
    def insert(self, data: st.DataObject, id: int, score: int, group: int, version: int) -> None:
        tree = data.draw(trees(self.schema) | conjunctions(self.schema))
        window = data.draw(st.sampled_from([(None, None), (1, None), (None, 3), (1, 3)]))
        self.reference.insert(id, tree, score, *window, group, version)
        self.scan.insert(id, str(tree), score, *window, group, version)

    @rule(group=SOME_GROUPS)
    def mute(self, group: int) -> None:
        assert self.reference.mute(group) == self.scan.mute(group)

    @rule(group=SOME_GROUPS)
    def unmute(self, group: int) -> None:
        assert self.reference.unmute(group) == self.scan.unmute(group)

    @rule(id=st.integers(0, 5))
    def remove(self, id: int) -> None:
        assert self.reference.remove(id) == self.scan.remove(id)

    @rule(data=st.data(), at=st.sampled_from([None, 0, 1, 2, 3]), limit=st.integers(0, 4))
    def match(self, data: st.DataObject, at: float | None, limit: int) -> None:
        event = data.draw(events(self.schema))
        exclude, floor = data.draw(excludes(st.integers(0, 6))), data.draw(FLOORS)
        for query in (
            Query(at, None, True, exclude, floor),
            Query(at, limit, True, exclude, floor),
        ):
            assert self.reference.ask(event, query) == self.scan.ask(event, query)

    @rule(data=st.data())
    def explain(self, data: st.DataObject) -> None:
        event = data.draw(events(self.schema))
        for id in self.scan:
            explanation = self.reference.explain(id, event)
            heard = id in self.scan.match(event)
            assert explanation.value is True or not heard
            assert heard or explanation.value is not True or self.scan.muted()

    @invariant()
    def invariants_hold(self) -> None:
        self.reference.check_invariants()
        assert list(self.reference) == list(self.scan)
        assert self.reference.digest() == self.scan.digest()
        assert self.reference.muted() == self.scan.muted()

    def teardown(self) -> None:
        for id in list(self.reference):
            self.reference.remove(id)
            self.reference.check_invariants()
        for group in self.reference.muted():
            self.reference.unmute(group)
        assert self.reference.digest() == 0
        assert holds_nothing(self.reference)


TestHistories = Histories.TestCase
TestHistories.settings = settings(
    max_examples=max(30, settings().max_examples // 5), stateful_step_count=20, deadline=None
)
